#!/usr/bin/env bash
# Runs the linters of .golangci.yml, in the version that tools/go.mod pins.
# The first run builds the linter from source, which takes some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

go tool -modfile=tools/go.mod golangci-lint run "$@"
cd integration/bench # a module of its own
go tool -modfile=../../tools/go.mod golangci-lint run "$@"
