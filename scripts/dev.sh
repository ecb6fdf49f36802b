#!/usr/bin/env bash
# Runs a development edge from the working tree, on loopback only.
set -euo pipefail
cd "$(dirname "$0")/.."

exec go run ./cmd/millrace pubsub dev "$@"
