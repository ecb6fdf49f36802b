"""Gives a job to one worker."""

import os

import millrace.sync

with millrace.sync.connect("http://localhost:8080", token=os.environ["MILLRACE_TOKEN"]) as client:
    client.publish("demo.room", "jobs.resize", "dog.png", delivery="one-random")
    client.flush()
