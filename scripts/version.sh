#!/usr/bin/env bash
# Prints the version that releases of this checkout have, such as 0.1.0.
set -euo pipefail
cd "$(dirname "$0")/.."
sed -n 's/^var number = "\(.*\)"$/\1/p' internal/version/version.go | grep .
