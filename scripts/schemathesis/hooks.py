"""Hooks of schemathesis for scripts/soak-schemathesis.sh: what JSON Schema cannot express."""

import random
from datetime import datetime, timedelta, timezone

import schemathesis
from schemathesis import GenerationMode

tokens = []  # the last ones that were issued


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Turns a request that the document allows into one that the edge should accept."""
    body = case.body
    if case.meta is None or case.meta.generation.mode is not GenerationMode.POSITIVE or not isinstance(body, dict):
        return
    right = body.get("right")
    if isinstance(right, dict):
        soon(right)
        # Addresses, origins, and what depends on the edge.
        for field, values in {
            "allow_ip_masks": ["192.0.2.7", "10.0.0.0/8", "2001:db8::1", "2001:db8::/32"],
            "allow_regions": ["US", "EU"],
            "allowed_ws_origin": ["null", "https://app.example.com", "http://[::1]:8080"],
        }.items():
            if right.get(field):
                right[field] = [random.choice(values) for _ in right[field]]
        for field in ("ingress_kb_per_sec", "egress_kb_per_sec"):
            if isinstance(right.get(field), (int, float)):
                right[field] = min(int(right[field]), 16384)  # 8.0 is an integer for JSON Schema
    if isinstance(body.get("created_by"), str):
        body["created_by"] = body["created_by"].encode()[:256].decode(errors="ignore")  # bytes, not characters
    soon(body)
    # A token that exists, three times out of four: the document cannot name one.
    if tokens and random.random() < 0.75:
        token = random.choice(tokens)
        if "token_id" in body:
            body["token_id"] = token.split("_")[1]
        if "token" in body:
            body["token"] = token


def soon(fields):
    """Puts expires_at into the next 24 hours, and makes expires_in an integer without a fraction."""
    if isinstance(fields.get("expires_in"), float):
        fields["expires_in"] = int(fields["expires_in"])
    if "expires_at" in fields:
        at = datetime.now(timezone.utc) + timedelta(seconds=random.randint(60, 86_000))
        fields["expires_at"] = at.isoformat()


@schemathesis.hook
def after_call(ctx, case, response):
    if response.status_code == 200 and case.operation.path == "/v1/get-token":
        tokens.append(response.json()["token"])
        del tokens[:-100]
