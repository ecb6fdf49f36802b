"""Gives a job to one worker."""

import os
import sys

import millrace.sync

refused = []
handlers = {"publish_error": refused.append}
with millrace.sync.connect("http://localhost:8080", token=os.environ["MILLRACE_TOKEN"], on=handlers) as client:
    client.publish("demo.room", "jobs.resize", "dog.png", delivery="one-random")
    client.flush()
if refused:
    sys.exit(f"refused: {refused[0].code}")
