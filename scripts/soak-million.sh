#!/usr/bin/env bash
# Simulates many sessions in one hub, idle, in rooms and in one channel, and prints
# what each costs: bytes, CPU time of a delivery, pauses of the garbage collector, and
# waits for locks (docs/hardening.md). The arguments are numbers of sessions; the
# default is 10,000, 100,000 and 1,000,000, which needs 6 GiB of memory and some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

export MILLRACE_SESSIONS="${*:-10000 100000 1000000}"
GOMEMLIMIT="${GOMEMLIMIT:-7GiB}" go test -count=1 -timeout 1h -run '^TestManySessions' -v ./pubsub
