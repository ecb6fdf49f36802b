#!/usr/bin/env bash
# Builds the console's page in console, which the edge embeds from
# caddymodule/console/page, and checks it: types, lint, tests, that the files there are up
# to date, and their size. With the argument build it only builds; with check it only
# checks what is built. Needs Node 20 or newer; installs what the lock file names, and,
# but with check, builds sdk/js, which is part of the page.
set -euo pipefail
cd "$(dirname "$0")/../console"

# Copied after a successful install; a changed lock makes it differ.
if ! cmp -s package-lock.json node_modules/.installed-from; then
	npm ci --no-audit --no-fund --loglevel=error
	cp package-lock.json node_modules/.installed-from
fi
[[ ${1:-} == check ]] || ../scripts/sdk-js.sh build # make test has built it, and tests use it

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

npm run --silent types
npm run --silent lint
if ! results=$(npm run --silent test 2>&1); then
	printf '%s\n' "$results"
	exit 1
fi
grep -E '^(#|ℹ) (tests|fail)' <<<"$results" || true # the reporter's own marks
npm run --silent build -- --check
npm run --silent size
