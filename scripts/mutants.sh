#!/usr/bin/env bash
# A mutation test: how many of the 100 small changes in tools/mutants/mutants.json the tests
# find. Each is tried with the tests of its package, then with those of packages that import
# it, then with the commands of --e2e.
#
#   scripts/mutants.sh [--tree DIR] [--only 1-10,17] [--stage 1|2|3] [--e2e COMMAND]...
#   scripts/mutants.sh table
#   scripts/mutants.sh choose --tree DIR    makes the list again, without what it rejects
#
# DIR is a clean checkout, this one if there is none. Results are in tools/mutants/results, by
# commit; what has a result is not run again.
set -euo pipefail
cd "$(dirname "$0")/.."

export GOFLAGS="${GOFLAGS:-} -trimpath"
verb=run
if [[ ${1:-} == [a-z]* ]]; then
	verb=$1
	shift
fi
mkdir -p .cache/mutants tools/mutants/results
(cd tools/mutants && go build -o ../../.cache/mutants/mutants .)
exec .cache/mutants/mutants "$verb" --home tools/mutants --cache .cache/mutants "$@"
