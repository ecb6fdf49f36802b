#!/usr/bin/env bash
# Measures: docs/performance.md says what, and how to read it.
#
#   BENCH=micro   the Go benchmarks of the hot path, and of the pattern tree
#                 beside nats-server's; arguments go to go test
#   BENCH=table   Millrace beside other servers, in one table; arguments go to
#                 integration/bench (-help lists them)
#
# Without BENCH it is both; with arguments, and for example
# scripts/bench.sh -count=6 -bench=Publish, it is micro.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $# -gt 0 ]]; then
	bench=${BENCH:-micro}
else
	bench=${BENCH:-both}
fi

micro() {
	go test -run='^$' -bench=. -benchmem "$@" ./wire ./pubsub/...
	(cd integration/bench && go test -run='^$' -bench=. -benchmem "$@" .)
}

# The program takes this script's place, so that signals reach it, and it can
# stop what it has started.
table() {
	cd integration/bench
	go build -o ../../dist/bench .
	exec ../../dist/bench "$@"
}

case $bench in
micro) micro "$@" ;;
table) table "$@" ;;
both)
	micro
	table
	;;
*)
	echo "BENCH: must be micro or table, and is '$bench'" >&2
	exit 2
	;;
esac
