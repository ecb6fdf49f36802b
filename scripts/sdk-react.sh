#!/usr/bin/env bash
# Builds @millrace/react in sdk/react, with the page that the integration tests open, and
# checks it: lint, tests with React 18 and 19, size, documentation, and the package as it
# would be published. With the argument build it only builds; with check it only checks
# what is built. Needs Node 20 or newer, and sdk/js built; installs what the lock file
# names.
set -euo pipefail
cd "$(dirname "$0")/../sdk/react"

# Copied after a successful install; a changed lock makes it differ.
if ! cmp -s package-lock.json node_modules/.installed-from; then
	npm ci --no-audit --no-fund --loglevel=error
	cp package-lock.json node_modules/.installed-from
fi

build() {
	npm run --silent build
	npm run --silent bundle
}
case ${1:-} in
build)
	build
	exit
	;;
check) ;;
'') build ;;
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
npm_config_ignore_scripts=true npm run --silent pack:check # without prepack: it is built
