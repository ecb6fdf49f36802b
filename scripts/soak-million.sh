#!/usr/bin/env bash
# Simulates many sessions in one hub, idle, in rooms and in one channel, and prints
# what each costs: bytes, CPU time of a delivery, pauses of the garbage collector, and
# waits for locks (docs/decisions/0042-what-soaks-found.md). The arguments are numbers of sessions; the
# default is 10,000, 100,000 and 1,000,000, which needs 6 GiB of memory and some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
export MILLRACE_SESSIONS="${*:-10000 100000 1000000}"
export GOMEMLIMIT="${GOMEMLIMIT:-7GiB}"
run() { go test -count=1 -timeout 1h -v -o "$dir/pubsub.test" "$@" ./pubsub; }
run -run '^TestManySessions$'
run -run '^TestManySessionsContention$' -mutexprofile "$dir/mutex.out"
go tool pprof -top -nodecount 20 "$dir/pubsub.test" "$dir/mutex.out"
