#!/usr/bin/env bash
# What 100 hostile connections of one tenant do to the latency of another one, on
# one edge and over two: ROUNDS rounds with them and without, by turns.
set -euo pipefail
cd "$(dirname "$0")/.."

MILLRACE_TENANTS=${ROUNDS:-5} go test -v -count=1 -timeout 1h -run 'TestManyTenantsP99$' ./integration
