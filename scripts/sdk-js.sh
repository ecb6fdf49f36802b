#!/usr/bin/env bash
# Builds @millrace/client, in sdk/js, and checks it: lint, tests, size,
# documentation, the package as it would be published, and that the demo page's
# copy of it is up to date. With the argument build it only builds. Needs Node 20
# or newer; installs what the lock file names.
set -euo pipefail
cd "$(dirname "$0")/../sdk/js"

# Copied after a successful install; a changed lock makes it differ.
if ! cmp -s package-lock.json node_modules/.installed-from; then
	npm ci --no-audit --no-fund --loglevel=error
	cp package-lock.json node_modules/.installed-from
fi

npm run --silent build
case ${1:-} in
build) exit ;;
'') ;;
*)
	echo "usage: $0 [build]" >&2
	exit 2
	;;
esac

npm run --silent lint
npm run --silent test
npm run --silent size
npm run --silent docs
npm run --silent pack:check
npm run --silent demo -- --check
