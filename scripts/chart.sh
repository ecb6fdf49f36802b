#!/usr/bin/env bash
# Tests the Helm chart in deploy/chart/millrace, without a cluster: lint, what each set of
# values makes (decoded strictly into the types of Kubernetes), the Caddyfiles, and three
# processes with the Caddyfile of the StatefulSet. The first run compiles Helm and these
# types, which takes some minutes.
#
#   scripts/chart.sh [FLAGS OF GO TEST]
set -euo pipefail
cd "$(dirname "$0")/.."

export GOFLAGS="${GOFLAGS:-} -trimpath"
go build -o dist/test/ ./cmd/millrace
export MILLRACE_PROGRAM=$PWD/dist/test/millrace
cd deploy/charttest
go test -timeout 20m "$@" ./...
