#!/usr/bin/env bash
# Runs the linters of .golangci.yml, in the version that tools/go.mod pins.
# The first run builds the linter from source, which takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

# Its path, since go tool would build it with the race detector below.
lint=$(go tool -modfile=tools/go.mod -n golangci-lint)

# The linters read types from compiled packages. With -race, those are the ones that
# the tests need anyway, so nothing is compiled twice. Files that are for builds
# without the race detector have the tag lint, too. Another run on this machine, in
# another clone, is none of our business.
GOFLAGS="${GOFLAGS:-} -race" "$lint" run --allow-parallel-runners --build-tags=lint "$@"

# Two modules of their own. The first one is tested without the race detector.
(cd integration/bench && "$lint" run --allow-parallel-runners "$@")
(cd examples/plugin && GOFLAGS="${GOFLAGS:-} -race" "$lint" run --allow-parallel-runners "$@")
