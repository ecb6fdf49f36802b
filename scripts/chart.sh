#!/usr/bin/env bash
# Tests the Helm chart in deploy/chart/millrace, without a cluster: Helm's lint, what each
# set of values makes (decoded strictly into the types of Kubernetes), the Caddyfiles, and
# three processes with the Caddyfile of the StatefulSet. It also runs all linters on these
# tests. The first run compiles Helm, these types and the linters, which takes some minutes.
#
#   scripts/chart.sh [FLAGS OF GO TEST]
set -euo pipefail
cd "$(dirname "$0")/.."

export GOFLAGS="${GOFLAGS:-} -trimpath"
go build -o dist/test/ ./cmd/millrace
export MILLRACE_PROGRAM=$PWD/dist/test/millrace
lint=$(scripts/tool.sh tools/go.mod golangci-lint)
cd deploy/charttest
"$lint" run --allow-parallel-runners # scripts/lint.sh runs the fast linters only
go test -timeout 20m "$@" ./...
