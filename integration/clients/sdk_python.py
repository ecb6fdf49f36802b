# Clients of the SDK for Python: its driver (docs/writing-a-client.md).
import asyncio
import base64
import dataclasses
import datetime
import importlib.util
import json
import os
import ssl
import sys

import millrace
from millrace.events import EVENTS

DURATIONS = ("fallbackAfter", "connectTimeout", "keepAlive", "pongTimeout", "minBackOff", "maxBackOff")


def emit(report):
    sys.stdout.write(json.dumps({name: value for name, value in report.items() if value is not None}) + "\n")
    sys.stdout.flush()


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def plain(error):
    if error is None:
        return None
    if not isinstance(error, millrace.MillraceError):
        return {"code": "", "text": f"{type(error).__name__}: {error}"}
    fields = ("code", "text", "tenant", "pattern", "channel", "status", "close_code")
    report = {camel(name): getattr(error, name) for name in fields if getattr(error, name) is not None}
    if error.__cause__ is not None:
        report["cause"] = plain(error.__cause__)
    return report


def event_report(client, name, event):
    report = {"client": client, "event": camel(name)}
    for field in dataclasses.fields(event):
        value = getattr(event, field.name)
        if field.name in ("error", "cause"):
            value = plain(value)
        elif field.name in ("away", "delay", "rtt"):
            value *= 1000
        report[camel(field.name)] = value
    return report


def queue_options(options):
    return {"queue": options.get("queue", 0), "queue_policy": options.get("queuePolicy")}


def history(value):
    if isinstance(value, dict):
        return millrace.LastN(value["last"]) if "last" in value else millrace.After(value["after"])
    return value


def member(m):
    since = m.since.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    info = {} if m.info is None else {"info": m.info}
    return {"channel": m.channel, "subject": m.subject, **info, "since": since}


def members(presence):
    return {
        "members": [member(m) for m in presence.members], "counts": presence.counts, "synced": presence.synced,
    }


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


class Driver:
    def __init__(self):
        self.clients = {}
        self.asked = {}  # by client: the calls of the token provider without an answer
        self.subscriptions = {}
        self.memberships = {}
        self.presences = {}
        self.readers = set()
        self.context = None

    def ssl(self):
        if self.context is None:
            self.context = ssl.create_default_context(cafile=os.environ["MILLRACE_ROOTS"])
        return self.context

    async def connect(self, client, addresses, options, **_):
        asked = self.asked[client] = []

        def provider():
            answer = asyncio.get_running_loop().create_future()
            asked.append(answer)
            emit({"client": client, "event": "tokenWanted"})
            return answer

        def handler(name):
            return lambda event: emit(event_report(client, name, event))

        made = self.clients[client] = await millrace.connect(
            addresses,
            token=options.get("token"),
            token_provider=provider if options.get("provider") else None,
            transports=options.get("transports", ["webtransport", "websocket"]),
            ssl=self.ssl(),
            on={name: handler(name) for name in EVENTS},
            sender=options.get("sender", False),
            fail_fast=True,
            **queue_options(options),
            **{snake(name): options[name] / 1000 for name in DURATIONS if name in options},
        )

        async def ended():
            emit({"client": client, "event": "ended", "error": plain(await made.closed())})

        self.start(ended())
        return {"edge": made.edge, "transport": made.transport}

    def start(self, work):
        task = asyncio.create_task(work)
        self.readers.add(task)
        task.add_done_callback(self.readers.discard)

    async def token(self, client, token="", expiresAt=None, expiresIn=None, text=None, loggedOut=False, **_):
        answer = self.asked[client].pop(0)
        if answer.done():
            return
        if loggedOut:
            answer.set_exception(millrace.LoggedOut(text))
        elif text:
            answer.set_exception(RuntimeError(text))
        elif expiresAt or expiresIn:
            at, within = expiresAt and moment(expiresAt), expiresIn and expiresIn / 1000
            answer.set_result(millrace.AccessToken(token, expires_at=at, expires_in=within))
        else:
            answer.set_result(token)

    async def subscribe(self, client, sub, tenant, pattern, mode, options=None, **_):
        options = options or {}

        def report(m):
            emit({
                "client": client, "event": "message", "sub": sub, "tenant": m.tenant, "channel": m.channel,
                "payload": base64.b64encode(m.payload).decode(), "pattern": m.pattern, "patterns": m.patterns,
                "late": m.late, "position": m.position, "sender": m.sender,
                "own": m.own or None, "key": m.key if isinstance(m.key, str) else None,
            })

        made = await self.clients[client].subscribe(
            tenant,
            pattern,
            on_message=report if mode == "callback" else None,
            history=history(options.get("history")),
            echo=not options.get("withoutEcho", False),
            **queue_options(options),
        )

        def end(error=None):
            emit({"client": client, "event": "subscriptionEnded", "sub": sub, "error": plain(error)})

        async def read():
            try:
                async for message in made:
                    report(message)
                end()
            except millrace.MillraceError as error:
                end(error)

        async def ended():
            end(await made.ended())

        self.subscriptions[client, sub] = made, read
        if mode == "iterate":
            self.start(read())
        elif mode == "callback":
            self.start(ended())

    async def read(self, client, sub, **_):
        self.start(self.subscriptions[client, sub][1]())

    async def unsubscribe(self, client, sub, **_):
        await self.subscriptions[client, sub][0].unsubscribe()

    async def drain(self, client, sub="", **_):
        await (self.subscriptions[client, sub][0] if sub else self.clients[client]).drain()

    async def join(self, client, member, tenant, channel, **_):
        made = self.memberships[client, member] = await self.clients[client].join(tenant, channel)

        async def ended():
            error = plain(await made.ended())
            emit({"client": client, "event": "membershipEnded", "member": member, "error": error})

        self.start(ended())

    async def leave(self, client, member, **_):
        await self.memberships[client, member].leave()

    async def presence(self, client, watch, tenant, pattern, count=False, **_):
        made = await self.clients[client].presence(tenant, pattern, count=count)
        shown = members(made)

        def report(change):
            told = {"type": change.type}
            if change.member is not None:
                told["memberInfo"] = member(change.member)
            else:
                told |= {"channel": change.channel, "count": change.count}
            emit({"client": client, "event": "presenceChange", "watch": watch, **told})

        async def read():
            error = None
            try:
                async for change in made:
                    report(change)
            except millrace.MillraceError as err:
                error = plain(err)
            emit({"client": client, "event": "presenceEnded", "watch": watch, "error": error})

        self.presences[client, watch] = made
        self.start(read())
        return shown

    async def members(self, client, watch, **_):
        return members(self.presences[client, watch])

    async def closePresence(self, client, watch, **_):
        await self.presences[client, watch].close()

    async def position(self, client, sub, **_):
        return {"position": self.subscriptions[client, sub][0].position}

    async def publish(self, client, tenant, channel, payload="", delivery="broadcast", confirm=False, key=None, **_):
        position = await self.clients[client].publish(
            tenant, channel, base64.b64decode(payload), delivery=delivery, confirm=confirm, key=key or None
        )
        return {"position": position}

    async def flush(self, client, **_):
        await self.clients[client].flush()

    async def online(self, client, **_):
        self.clients[client]._session.network_changed()  # as when the machine has other addresses

    async def renewToken(self, client, **_):
        await self.clients[client].renew_token()

    async def retry(self, client, **_):
        self.clients[client].retry()

    async def close(self, client, **_):
        await self.clients[client].close()

    def admin(self, addresses, master):
        return millrace.TokenAdmin(addresses, master, ssl=self.ssl())

    async def issue(self, addresses, master, tenant, rules, seconds, presence=(), subject="", **_):
        grant = millrace.Grant(tenants=[tenant], publish=rules, subscribe=rules, presence=presence)
        issued = await self.admin(addresses, master).issue(
            created_by="integration", expires_in=seconds, subject=subject or None, grants=[grant]
        )
        return {"token": issued.token, "tokenId": issued.token_id, "expiresAt": issued.expires_at.isoformat()}

    async def refresh(self, addresses, master, tokenId, seconds, **_):
        return {"expiresAt": (await self.admin(addresses, master).refresh(tokenId, expires_in=seconds)).isoformat()}

    async def revoke(self, addresses, master, token, **_):
        await self.admin(addresses, master).revoke(token)

    async def list(self, addresses, master, tenant, **_):
        listed = self.admin(addresses, master).list(tenant=tenant, page_size=2)
        return {"tokens": [{"tokenId": info.token_id, "status": info.status} async for info in listed]}

    async def carry_out(self, command):
        answer = {"client": command.get("client"), "event": "answer", "id": command["id"]}
        name, options = command.pop("cmd"), {k: v for k, v in command.items() if k != "id"}
        try:
            emit({**answer, **(await getattr(self, name)(**options) or {})})
        except Exception as error:
            emit({**answer, "error": plain(error)})


def snake(name):
    return "".join("_" + c.lower() if c.isupper() else c for c in name)


async def main():
    if importlib.util.find_spec("aioquic"):
        emit({"event": "hello", "transports": ["webtransport", "websocket"]})
    else:
        emit({"event": "hello", "transports": ["websocket"], "lacks": ["fallback"]})
    driver = Driver()
    reader = asyncio.StreamReader(limit=1 << 21)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        driver.start(driver.carry_out(json.loads(line)))
    for client in driver.clients.values():
        await client.close()


asyncio.run(main())
