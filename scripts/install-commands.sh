#!/usr/bin/env bash
# Prints the commands of a section of docs/install.md, one a line and without comments, but
# those that integration/testdata/install-not-run.txt lists. The soaks `package` and
# `release` run what this prints; TestInstallCommandsAreRun compares it with the document.
#
#   scripts/install-commands.sh 'Debian and Ubuntu'
set -euo pipefail
cd "$(dirname "$0")/.."

commands=$(awk -v title="## $1" '
	/^## / { inside = $0 == title }
	/^```/ { block = inside && $0 == "```sh"; next }
	block && NF { sub(/ +# .*/, ""); print }' docs/install.md)
if [[ -z $commands ]]; then
	echo "docs/install.md has no commands in a section '$1'" >&2
	exit 1
fi
grep -vxFf <(grep -v '^#' integration/testdata/install-not-run.txt | cut -f1) <<<"$commands"
