#!/usr/bin/env bash
# Prints the path of a tool, in the version that a go.mod below tools/ pins. Builds it once,
# into dist/tools, which may take some minutes.
#
#   scripts/tool.sh GO.MOD NAME
set -euo pipefail
cd "$(dirname "$0")/.."

key=$({ cat "$1" && go env GOVERSION; } | sha256sum)
tool=$PWD/dist/tools/$2-${key:0:12}
if [[ ! -x $tool ]]; then
	mkdir -p dist/tools
	rm -f "dist/tools/$2-"* # of other versions
	built=$(GOFLAGS='' go tool "-modfile=$1" -n "$2")
	cp "$built" "$tool.new"
	mv "$tool.new" "$tool"
fi
printf '%s\n' "$tool"
