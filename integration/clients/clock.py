"""clock.mjs for the SDK for Python."""

import asyncio
import datetime
import json
import os
import time
import urllib.request

import millrace

EDGE, MASTER = os.environ["EDGE"], os.environ["MILLRACE_MASTER_TOKEN"]
asked = 0


def get_token():
    right = {"expires_in": 7, "tenant_grants": [{"tenant_ids": ["t"], "allow_channels_sub": ["c"]}]}
    headers = {"Authorization": f"Bearer {MASTER}", "Content-Type": "application/json"}
    body = json.dumps({"created_by": "clock", "right": right}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{EDGE}/v1/get-token", body, headers)) as answer:
        return json.load(answer)


async def token_provider():
    global asked
    asked += 1
    return await asyncio.to_thread(get_token)


async def main():
    admin = millrace.TokenAdmin(EDGE, MASTER)
    about = {"created_by": "clock", "grants": [millrace.Grant(tenants=["t"], publish=["c"], subscribe=["c"])]}
    day = await admin.issue(expires_in=datetime.timedelta(hours=24), **about)
    more = await admin.issue(expires_in=datetime.timedelta(hours=25), **about)
    ahead = datetime.timedelta(seconds=1, hours=24 * os.environ["FAKETIME"].startswith("+"))
    refusal = ""
    try:
        await admin.issue(expires_at=datetime.datetime.now(datetime.timezone.utc) + ahead, **about)
    except millrace.MillraceError as error:
        refusal = str(error)
    lost = []
    async with millrace.connect(EDGE, token_provider=token_provider, transports=["websocket"]) as client:
        client.on("disconnected", lost.append)
        await asyncio.sleep(9)
    clamped = [day.clamped, more.clamped, day.expires_in, more.expires_in]
    print(json.dumps({"clamped": clamped, "refusal": refusal, "asked": asked, "lost": len(lost), "now": time.time() * 1000}))


asyncio.run(main())
