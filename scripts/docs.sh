#!/usr/bin/env bash
# Builds the documentation as a site, with VitePress, from README.md and docs/: any server of
# files can serve it. A dead link, a page that is not in the navigation of
# site/.vitepress/pages.mjs, and any other warning fail it. Needs Node 20 or newer; installs what
# the lock file names.
#
#   scripts/docs.sh [build]    into dist/docs; with --base /docs/ for a site below that path
#   scripts/docs.sh preview    serves what was built, on http://localhost:4173
#   scripts/docs.sh dev        serves the pages as they are written, on http://localhost:5173
#   scripts/docs.sh install    only installs
#
# More options go to VitePress: --outDir FOLDER, --port PORT.
set -euo pipefail
cd "$(dirname "$0")/../site"

case ${1:-build} in
build | preview | dev | install) ;;
*)
	echo "usage: $0 [build | preview | dev | install] [options of VitePress]" >&2
	exit 2
	;;
esac

# Copied after a successful install; a changed lock makes it differ.
if ! cmp -s package-lock.json node_modules/.installed-from; then
	npm ci --no-audit --no-fund --loglevel=error
	cp package-lock.json node_modules/.installed-from
fi
[[ ${1:-} != install ]] || exit 0
exec node_modules/.bin/vitepress "${1:-build}" . "${@:2}"
