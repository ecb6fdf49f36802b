#!/bin/sh
# Refreshes caddymodule/openapi/ui/ from the official npm package
# swagger-ui-dist: the script, the style, the icon and the licences, nothing
# else. Needs npm and tar. npm checks the package against the registry's
# integrity hash, and runs no script of the package.
#
#   scripts/update-swagger-ui.sh [version]     # default: the version in use
set -eu

ui=$(cd "$(dirname "$0")/../caddymodule/openapi/ui" && pwd)
version=${1:-$(cat "$ui/VERSION")}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
npm pack --silent "swagger-ui-dist@$version" >/dev/null
tar -xzf swagger-ui-dist-*.tgz

for file in LICENSE NOTICE favicon-32x32.png swagger-ui.css \
	swagger-ui-bundle.js swagger-ui-bundle.js.LICENSE.txt; do
	install -m 0644 "package/$file" "$ui/$file"
done
echo "$version" >"$ui/VERSION"
echo "swagger-ui-dist $version is in $ui; now run: go test ./caddymodule/openapi"
