#!/usr/bin/env bash
# Refuses the words of scripts/words.txt in the project's text: comments, messages, docs.
set -euo pipefail
cd "$(dirname "$0")/.."

failed=0
while IFS=$'\t' read -r pattern better; do
	[[ $pattern != '#'* ]] || continue
	if git grep --untracked -nP "$pattern" -- ':!scripts/words.txt' ':!*LICENSE' ':!*package-lock.json' \
		':!caddymodule/console/page' ':!caddymodule/demo/page/client.js' ':!caddymodule/sdk/*js' ':!caddymodule/openapi/ui'; then
		echo "the lines above: write it plainly ($better)"
		failed=1
	fi
done <scripts/words.txt
exit $failed
