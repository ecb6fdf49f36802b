#!/usr/bin/env bash
# Makes the pictures of docs/console.md again, from the screens of a real edge in Chromium.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install-test-deps.sh
mkdir -p docs/console
MILLRACE_SOAK=1 MILLRACE_PICTURES=$PWD/docs/console go test -count=1 -run 'TestConsoleScreens$' ./integration/console
