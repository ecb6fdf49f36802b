#!/usr/bin/env bash
# What a newcomer and every edit runs: the tests of all Go packages and of the SDKs. Needs
# what scripts/check-deps.sh names, as a normal user, and nothing else: no browser, no
# linter, no C compiler. scripts/check.sh is for the rest.
#
# What has passed and has not changed is not run again, but with GOFLAGS=-count=1.
set -euo pipefail
cd "$(dirname "$0")/.."

# The packages of ./integration that are quick, and need no client but ours in Go.
# scripts/check.sh runs the other ones.
quick=(./integration/conformance)
if [[ ${1:-} == list ]]; then
	[[ ${#quick[@]} -eq 0 ]] || printf '%s\n' "${quick[@]}"
	exit
fi

scripts/check-deps.sh test
# shellcheck source-path=SCRIPTDIR
source scripts/testing/steps.sh

javascript() { # the others use the first one
	step sdk/js unless_unchanged sdk/js wire/testdata docs/reference/typescript.md scripts/npm.sh -- scripts/npm.sh sdk/js test
	step sdk/react unless_unchanged sdk/js sdk/react docs/reference/react.md scripts/npm.sh -- scripts/npm.sh sdk/react test
	step sdk/testing unless_unchanged sdk/js sdk/testing scripts/npm.sh -- scripts/npm.sh sdk/testing test
	step console unless_unchanged sdk/js console scripts/npm.sh -- scripts/npm.sh console test
}
python() {
	step sdk/python unless_unchanged sdk/python sdk/mistakes.json wire/testdata README.md docs/quickstart/python.md docs/reference/python.md examples/python scripts/sdk-python.sh -- scripts/sdk-python.sh test
}
packages() {
	local packages
	mapfile -t packages < <(go list ./... | grep -vE '/integration(/|$)')
	# More packages at a time than there are cores: they wait most of the time.
	gotest -p 4 "${packages[@]}" "${quick[@]}"
}
plugin() { cd examples/plugin && report=../../$report gotest ./...; }
module() { step 'go test, examples/plugin' plugin; } # as somebody else would write it

lane javascript
lane python
step gofmt scripts/fmt.sh --check
step 'build the report' build_report
step 'build what tests run' go build -o "$MILLRACE_TEST_PROGRAMS/" ./cmd/millrace github.com/nats-io/nats-server/v2
lane module # when all that it shares with the packages is compiled
step 'go test' packages
join javascript python module
finish 'make test'
