#!/usr/bin/env bash
# Formats the Go code. With --check it changes nothing, lists the files that
# are not formatted, and fails if there are any.
set -euo pipefail
cd "$(dirname "$0")/.."

# Tracked and new files, without ignored and deleted ones.
mapfile -d '' -t files < <(
	git ls-files -z --cached --others --exclude-standard -- '*.go' |
		while IFS= read -r -d '' f; do [[ ! -f $f ]] || printf '%s\0' "$f"; done
)

if [[ ${1:-} == --check ]]; then
	unformatted=$(gofmt -s -l "${files[@]}")
	if [[ -n $unformatted ]]; then
		printf 'not formatted (run make fmt):\n%s\n' "$unformatted" >&2
		exit 1
	fi
else
	gofmt -s -l -w "${files[@]}"
fi
