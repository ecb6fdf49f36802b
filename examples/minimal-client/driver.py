"""The driver of the minimal client: docs/writing-a-client.md describes the lines.

    scripts/conformance.sh python3 examples/minimal-client/driver.py
"""

import asyncio
import base64
import json
import os
import ssl
import sys

from client import Client, Error

clients, subscriptions = {}, {}


def say(**report):
    print(json.dumps(report), flush=True)


def plain(error):
    return error and {"code": getattr(error, "code", ""), "text": str(error), **getattr(error, "about", {})}


async def connect(name, addresses, options, **_):
    def on_event(event, error=None, **fields):
        if event == "closed":  # with it, all subscriptions have ended
            for client, sub in [key for key in subscriptions if key[0] == name]:
                del subscriptions[client, sub]
                say(client=name, event="subscriptionEnded", sub=sub, error=plain(error))
            say(client=name, event="ended", error=plain(error))
        say(client=name, event=event, error=plain(error), **fields)

    client = Client(addresses[0], on_event)
    tls = ssl.create_default_context(cafile=os.environ["MILLRACE_ROOTS"])
    await client.connect(options["token"], tls, options.get("keepAlive", 25_000) / 1000)
    clients[name] = client


async def subscribe(name, sub, tenant, pattern, **_):
    def report(message):
        payload = base64.b64encode(message["payload"]).decode()
        say(client=name, event="message", sub=sub, **{**message, "payload": payload})

    await clients[name].subscribe(tenant, pattern, report)
    subscriptions[name, sub] = tenant, pattern, report


async def unsubscribe(name, sub, **_):
    await clients[name].unsubscribe(*subscriptions.pop((name, sub)))
    say(client=name, event="subscriptionEnded", sub=sub)


async def publish(name, tenant, channel, payload="", delivery="broadcast", **_):
    await clients[name].publish(tenant, channel, base64.b64decode(payload), delivery)


async def flush(name, **_):
    await clients[name].flush()


async def close(name, **_):
    await clients[name].close()


async def main():
    lacks = ["queues", "work-queues", "histories", "token-provider", "renew-token", "expires-in", "logged-out"]
    lacks += ["token-admin", "edge-lists", "several-edges", "fallback", "reconnect", "retry", "retry-after", "moves", "links", "suspicion", "senders", "presence"]
    say(event="hello", transports=["websocket"], lacks=lacks)
    commands = {f.__name__: f for f in (connect, subscribe, unsubscribe, publish, flush, close)}
    while line := await asyncio.to_thread(sys.stdin.readline):
        command = json.loads(line)
        name, number = command.pop("client"), command.pop("id")
        error = None
        try:
            await commands[command.pop("cmd")](name, **command)
        except (Error, LookupError) as failure:
            error = failure
        say(client=name, event="answer", id=number, error=plain(error))


asyncio.run(main())
