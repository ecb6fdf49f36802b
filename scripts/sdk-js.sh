#!/usr/bin/env bash
# Builds @millrace/client in sdk/js and checks it: lint, tests, size,
# documentation, the package as it would be published, and that the demo page's
# copy of it is up to date. With the argument build it only builds; with check it
# only checks what is built. Needs Node 20 or newer; installs what the lock file names.
set -euo pipefail
cd "$(dirname "$0")/../sdk/js"

# Copied after a successful install; a changed lock makes it differ.
if ! cmp -s package-lock.json node_modules/.installed-from; then
	npm ci --no-audit --no-fund --loglevel=error
	cp package-lock.json node_modules/.installed-from
fi

case ${1:-} in
build)
	npm run --silent build
	exit
	;;
check) ;;
'') npm run --silent build ;;
*)
	echo "usage: $0 [build | check]" >&2
	exit 2
	;;
esac

npm run --silent lint
if ! results=$(npm run --silent test 2>&1); then
	printf '%s\n' "$results"
	exit 1
fi
grep -E '^(#|ℹ) (tests|fail)' <<<"$results" || true # the reporter's own marks
npm run --silent size
npm run --silent docs
npm run --silent pack:check
npm run --silent demo -- --check
