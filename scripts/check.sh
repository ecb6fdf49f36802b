#!/usr/bin/env bash
# All that must hold before a change lands: scripts/test.sh, then lint, the race detector on
# all packages, all of ./integration, with browsers, clusters and faults, and the SDKs as
# they would be published. It installs what it needs: see scripts/install-test-deps.sh.
#
#   scripts/check.sh        all of it
#   scripts/check.sh rest   without scripts/test.sh
set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
'') scripts/test.sh ;;
rest) ;;
*)
	echo "usage: $0 [rest]" >&2
	exit 2
	;;
esac

scripts/check-deps.sh check
# shellcheck source-path=SCRIPTDIR
source scripts/testing/steps.sh

# For tests in full that make test has in short.
export MILLRACE_CHECK=1

programs() {
	build_report &&
		go build -o "$MILLRACE_TEST_PROGRAMS/" ./cmd/millrace ./integration/clients/sdkgo github.com/nats-io/nats-server/v2 &&
		# The same as another version, for TestRollingUpgrade; only linking is left to do.
		go build -ldflags '-X github.com/millrace/millrace/internal/version.number=0.1.1-test' -o "$MILLRACE_TEST_PROGRAMS/millrace-next" ./cmd/millrace
}
all_integration() {
	local packages
	mapfile -t packages < <(go list ./integration/... | grep -vxFf <(scripts/test.sh list | sed "s|^\.|$(go list -m)|"))
	gotest "${packages[@]}"
}
races() {
	local packages
	mapfile -t packages < <(go list ./... | grep -vE '/integration(/|$)')
	gotest -race -p 4 "${packages[@]}"
}
# Go clients run on machines of 32 bits, too, as which an x86-64 processor can serve.
narrow() { GOARCH=386 gotest ./client ./wire; }
module() { cd "$1" && report=$OLDPWD/$report gotest "${@:2}" ./...; } # folder, flags
integration() { step 'go test ./integration/...' all_integration; }

step 'third-party clients, browsers, and the SDKs built' scripts/install-test-deps.sh
step 'build what tests run' programs
lane integration
step lint scripts/lint.sh # go vet's checks are among them
step 'go test -race' races
[[ $(go env GOHOSTARCH) != amd64 ]] || step 'go test, 32 bits' narrow
step 'go test -race, examples/plugin' module examples/plugin -race
for folder in sdk/js sdk/react sdk/testing console; do
	step "$folder" scripts/npm.sh "$folder" check
done
step sdk/python scripts/sdk-python.sh check
step 'go test, integration/bench' module integration/bench # with the other servers
join integration
finish "make check${1:+, the rest}"
