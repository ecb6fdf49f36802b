#!/usr/bin/env bash
# Runs the benchmarks of the hot path. Arguments go to go test, for example
# scripts/bench.sh -count=6 -bench=Publish
set -euo pipefail
cd "$(dirname "$0")/.."

exec go test -run='^$' -bench=. -benchmem "$@" ./wire ./pubsub/pattern ./pubsub
