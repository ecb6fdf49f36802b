"""A WebSocket client made of the package websockets and frames built by hand.

It is driven by foreign_test.go: one JSON command a line on stdin, one JSON
event a line on stdout. node_client.mjs lists both; the two clients are alike.
"""

import json
import queue
import struct
import sys
import threading

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

emit_lock = threading.Lock()


def emit(**event):
    with emit_lock:
        print(json.dumps(event), flush=True)


def sized(text):
    """Bytes behind their length as an unsigned 16-bit number."""
    data = text.encode()
    return struct.pack(">H", len(data)) + data


def publish_frame(command):
    delivery = command.get("delivery")
    tag = b"" if delivery is None else bytes([0x02, delivery])
    payload = bytes.fromhex(command["payload"])
    return tag + sized(command["tenant"]) + sized(command["channel"]) + payload


def parse_deliver(frame):
    at = 0

    def take(n):
        nonlocal at
        if at + n > len(frame):
            raise ValueError("the frame is too short")
        at += n
        return frame[at - n : at]

    def number(layout):
        return struct.unpack(layout, take(struct.calcsize(layout)))[0]

    def text():
        return take(number(">H")).decode()

    tag = number(">B")
    if tag != 0x01:
        raise ValueError(f"tag {tag} is not a deliver frame's")
    event = {"event": "deliver", "tenant": text(), "channel": text()}
    event["payload"] = take(number(">I")).hex()
    event["patterns"] = [text() for _ in range(number(">H"))]
    if at != len(frame):
        raise ValueError("bytes follow the frame")
    return event


def read(ws):
    """Emits what the server sends until it closes the connection."""
    try:
        while True:
            message = ws.recv()
            if isinstance(message, str):
                emit(event="text", text=message)
            else:
                emit(**parse_deliver(message))
    except ConnectionClosed as closed:
        emit(event="close", code=closed.rcvd.code if closed.rcvd else 1006)
    except ValueError as err:
        emit(event="error", text=str(err))


def session(command, opened):
    """Holds one connection; gives opened its socket, or None when refused."""
    token = command["token"]
    if command["auth"] == "header":
        credentials = {"additional_headers": {"Authorization": f"Bearer {token}"}}
    else:
        credentials = {"subprotocols": ["llps.v1", f"at.{token}"]}
    try:
        with connect(command["url"], proxy=None, **credentials) as ws:
            emit(event="open", protocol=ws.subprotocol or "")
            opened.put(ws)
            read(ws)
    except InvalidStatus as refused:
        emit(event="refused", status=refused.response.status_code)
        opened.put(None)


def open_socket(command):
    opened = queue.Queue()
    threading.Thread(target=session, args=(command, opened), daemon=True).start()
    return opened.get()


def main():
    ws = None
    for line in sys.stdin:
        command = json.loads(line)
        match command["cmd"]:
            case "open":
                ws = open_socket(command)
            case "text":
                ws.send(command["text"])
            case "publish":
                ws.send(publish_frame(command))
            case "binary":
                ws.send(bytes.fromhex(command["bytes"]))
            case "close":
                ws.close(1000)
            case unknown:
                emit(event="error", text=f"unknown command {unknown}")
    if ws is not None:
        ws.close()


main()
