#!/usr/bin/env bash
# Tests a client of Millrace that is written in any language, by the scenarios that our
# SDKs are tested by: see docs/writing-a-client.md.
#
#   scripts/conformance.sh [-run NAMES] [-transports LIST] COMMAND...
#
# COMMAND runs the client's driver. NAMES is a regular expression of scenarios, with _ for
# each space; LIST names transports, separated by commas. It builds an edge, runs it, and
# prints which scenarios pass. Needs Go only.
set -euo pipefail

usage() {
	sed -n '/^#   /s/^#   /usage: /p' "$0" >&2
	exit 2
}
names=
while [[ ${1:-} == -* ]]; do
	[[ $# -ge 2 ]] || usage
	case $1 in
	-run) names=$2 ;;
	-transports) export MILLRACE_CLIENT_TRANSPORTS=$2 ;;
	*) usage ;;
	esac
	shift 2
done
[[ $# -ge 1 ]] || usage
if [[ $# -eq 1 ]]; then
	export MILLRACE_CLIENT=$1 # a whole line
else
	printf -v MILLRACE_CLIENT '%q ' "$@"
	export MILLRACE_CLIENT
fi
export MILLRACE_CLIENT_FOLDER=$PWD

cd "$(dirname "$0")/.."
export GOFLAGS="${GOFLAGS:-} -trimpath" MILLRACE_TEST_PROGRAMS=$PWD/dist/test
echo 'building the edge' >&2
go build -o "$MILLRACE_TEST_PROGRAMS/" ./cmd/millrace github.com/nats-io/nats-server/v2
go test -vet=off -c -o "$MILLRACE_TEST_PROGRAMS/sdks.test" ./integration/sdks
cd integration/sdks
"$MILLRACE_TEST_PROGRAMS/sdks.test" -test.v -test.timeout 20m -test.run "^TestSDKs\$${names:+/^($names)\$}" |
	sed '/^=== [RPC]/d' # RUN, PAUSE and CONT; NAME says which one fails below
