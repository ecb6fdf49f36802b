#!/usr/bin/env bash
# Refuses the words of scripts/words.txt, then runs the linters of .golangci.yml, in the version that tools/go.mod pins, and actionlint
# on .github/workflows. The first run builds the linters from source, which takes some
# minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/words.sh

lint=$(scripts/tool.sh tools/go.mod golangci-lint)
# --allow-parallel-runners: a run in another clone on this machine does not matter.
run() { "$lint" run --allow-parallel-runners "$@"; }

run "$@"
# Separate modules.
(cd integration/bench && run "$@")
(cd tools/mutants && run "$@")
(cd examples/plugin && run "$@")
# The tests of the chart: only the linters that need no types, and so nothing compiled. The
# others would have all of Helm compiled; scripts/chart.sh, which does that, runs them all.
(cd deploy/charttest && run --fast-only "$@")

# Without the programs that it could call: they differ between machines.
"$(scripts/tool.sh tools/actionlint/go.mod actionlint)" -shellcheck= -pyflakes=
