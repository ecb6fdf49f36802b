#!/usr/bin/env bash
# Runs every fuzz target of the module for FUZZTIME each (a Go duration).
set -euo pipefail
cd "$(dirname "$0")/.."

fuzztime=${FUZZTIME:-10s}
count=0
while IFS= read -r dir; do
	while IFS= read -r target; do
		printf '\n== %s %s\n' "$dir" "$target"
		# New inputs are kept as they are: minimizing one may take a minute.
		go test -run='^$' -fuzz="^$target\$" -fuzztime="$fuzztime" -fuzzminimizetime=10x "./$dir"
		count=$((count + 1))
	done < <(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | awk '{ print $2 }')
done < <(git grep --untracked -lE '^func Fuzz' -- '*_test.go' | xargs -rn1 dirname | sort -u)

if [[ $count -eq 0 ]]; then
	echo 'no fuzz target found' >&2
	exit 1
fi
