#!/usr/bin/env bash
# Prints the version that releases of this checkout have, such as 0.1.0.
set -euo pipefail
echo 0.1.0
