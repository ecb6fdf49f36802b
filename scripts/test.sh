#!/usr/bin/env bash
# Everything CI checks, cheapest first.
set -euo pipefail
cd "$(dirname "$0")/.."

step() { printf '\n== %s\n' "$*"; }

step gofmt
scripts/fmt.sh --check

step 'foreign clients'
scripts/install-test-deps.sh

step sdk/js
scripts/sdk-js.sh

step go vet
go vet ./...

step lint
scripts/lint.sh

# The timeout is per package; the slowest one (integration) needs a few
# minutes, most of them for building the binary that it tests.
step go test -race
go test -race -timeout 20m ./...

step 'go test, integration/bench' # a module of its own, with the other servers
(cd integration/bench && go vet ./... && go test -timeout 10m ./...)
