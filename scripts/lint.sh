#!/usr/bin/env bash
# Runs the linters of .golangci.yml, in the version that tools/go.mod pins, and actionlint
# on .github/workflows. The first run builds the linters from source, which takes some
# minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

# Take its path, since go tool would build it with the race detector below.
lint=$(go tool -modfile=tools/go.mod -n golangci-lint)

# The linters read types from compiled packages. With -race, these are the packages
# that the tests need anyway, so nothing is compiled twice. Files for builds without
# the race detector therefore have the tag lint, too. --allow-parallel-runners: a run
# in another clone on this machine does not matter.
GOFLAGS="${GOFLAGS:-} -race" "$lint" run --allow-parallel-runners --build-tags=lint "$@"

# Separate modules. The first one is tested without the race detector.
(cd integration/bench && "$lint" run --allow-parallel-runners "$@")
(cd examples/plugin && GOFLAGS="${GOFLAGS:-} -race" "$lint" run --allow-parallel-runners "$@")

# The tests of the chart: only the linters that need no types, and so nothing compiled. The
# others would have all of Helm compiled; scripts/chart.sh, which does that, runs them all.
(cd deploy/charttest && "$lint" run --allow-parallel-runners --fast-only "$@")

# Without the programs that it could call: they differ between machines.
$(go tool -modfile=tools/actionlint/go.mod -n actionlint) -shellcheck= -pyflakes=
