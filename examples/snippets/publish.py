"""Gives a job to one worker."""

import os

import millrace.sync

with millrace.sync.connect("http://localhost:8080", token=os.environ["MILLRACE_TOKEN"]) as client:
    # no_subscriber: there is no worker; subscribers_busy: all of them have enough to do.
    client.publish("demo.room", "jobs.resize", {"image": "dog.png"}, delivery="one-random", confirm=True)
