#!/usr/bin/env bash
# Runs the benchmarks. docs/decisions/0043-what-was-measured.md says what they measure.
#
#   BENCH=micro   the Go benchmarks of the hot path, and of the pattern tree
#                 compared with nats-server's; arguments go to go test
#   BENCH=table   Millrace compared with other servers, in one table; arguments go
#                 to integration/bench (-help lists them)
#
# Without BENCH it runs both. Without BENCH but with arguments it runs micro, for
# example scripts/bench.sh -count=6 -bench=Publish.
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
	# Socket.IO is among what it compares.
	[[ -d ../clients/node_modules/socket.io ]] || npm --prefix ../clients ci --no-audit --no-fund --loglevel=error
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
	echo "BENCH is '$bench', but must be micro or table" >&2
	exit 2
	;;
esac
