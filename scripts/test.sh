#!/usr/bin/env bash
# Everything CI checks. The quick checks come first, and end the run if they fail.
# Then ./integration, which runs edges and waits for half of its time, runs beside
# the rest, which goes cheapest first. The output of ./integration is shown at the end.
#
# GOFLAGS=-count=1 also runs the Go tests whose results are cached.
set -euo pipefail
cd "$(dirname "$0")/.."

# With -trimpath, compiled packages do not record where the checkout is: another
# checkout, in another folder, takes them from the cache.
export GOFLAGS="${GOFLAGS:-} -trimpath"

step() { printf '\n== %s\n' "$*"; }

scripts/check-deps.sh

step gofmt
scripts/fmt.sh --check

step 'third-party clients, and sdk/js and sdk/react built'
scripts/install-test-deps.sh

# Programs that tests of several packages run are built once; see internal/programs.
step 'build what the tests run'
export MILLRACE_TEST_PROGRAMS=$PWD/dist/test
go build -o "$MILLRACE_TEST_PROGRAMS/" ./cmd/millrace ./integration/clients/sdkgo
# The same as another version, for TestRollingUpgrade; only linking is left to do.
go build -ldflags '-X github.com/millrace/millrace/internal/version.number=0.1.1-test' -o "$MILLRACE_TEST_PROGRAMS/millrace-next" ./cmd/millrace
go build -o "$MILLRACE_TEST_PROGRAMS/" github.com/nats-io/nats-server/v2

# The tests run in their own process group (set -m), so that they end with this
# script. The timeouts are per package, and are for tests that hang.
log=$(mktemp)
beside=
cleanup() {
	[[ -z $beside ]] || kill -INT -- "-$beside" 2>/dev/null || true
	rm -f "$log"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
step 'go test ./integration, beside what follows'
set -m
go test -vet=off -timeout 20m -p 2 ./integration/... >"$log" 2>&1 &
beside=$!
set +m

failed=()
try() {
	local title=$1 begin=$SECONDS
	shift
	step "$title"
	"$@" || failed+=("$title")
	printf '(%d s)\n' $((SECONDS - begin))
}
mapfile -t packages < <(go list ./... | grep -v '/integration/')

try lint scripts/lint.sh # go vet's checks are among them
# More packages at a time than there are cores: these, too, wait most of the time.
try 'go test -race, all but ./integration' go test -vet=off -race -p 4 -timeout 20m "${packages[@]}"
try sdk/js scripts/sdk-js.sh check
try sdk/react scripts/sdk-react.sh check
try sdk/python scripts/sdk-python.sh check
try console scripts/console.sh check
# A separate module, with the other servers.
bench() { (cd integration/bench && go test -vet=off -timeout 10m ./...); }
try 'go test ./integration/bench' bench
# Another one, as somebody else would write it.
plugin() { (cd examples/plugin && go test -vet=off -race -timeout 10m ./...); }
try 'go test -race ./examples/plugin' plugin

finish() {
	local status=0
	wait "$beside" || status=$?
	beside=
	cat "$log"
	return "$status"
}
try 'go test ./integration/...' finish

printf '\nmake test took %d min %d s\n' $((SECONDS / 60)) $((SECONDS % 60))
if [[ ${#failed[@]} -gt 0 ]]; then
	printf 'failed:\n' >&2
	printf '  %s\n' "${failed[@]}" >&2
	exit 1
fi
