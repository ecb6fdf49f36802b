#!/usr/bin/env bash
# Builds, tests or checks one of our npm packages: sdk/js, sdk/react, sdk/testing or console.
#
#   scripts/npm.sh FOLDER         all of it
#   scripts/npm.sh FOLDER build   only builds
#   scripts/npm.sh FOLDER test    its types and tests; builds the SDKs before
#   scripts/npm.sh FOLDER check   the rest, of what is built: lint, size, documentation, the
#                                 package as it would be published; of sdk/testing also with the
#                                 program, which is in $MILLRACE_TEST_PROGRAMS
#
# The scripts of these names in FOLDER/package.json say what that is. Needs Node 20 or newer;
# installs what the lock file names. The others need sdk/js, and build it.
set -euo pipefail
cd "$(dirname "$0")/.."
reporter=$PWD/scripts/testing/results.mjs

usage() {
	echo "usage: $0 sdk/js | sdk/react | sdk/testing | console [build | test | check]" >&2
	exit 2
}
folder=${1:-}
case $folder in sdk/js | sdk/react | sdk/testing | console) ;; *) usage ;; esac
case ${2:-} in
'') parts=(build test check) ;;
build | check) parts=("$2") ;;
test) # the console's build is committed: its check says whether it is up to date
	parts=(test)
	[[ $folder == console ]] || parts=(build test)
	;;
*) usage ;;
esac

if [[ $folder != sdk/js && (${2:-build} == build || ! -d sdk/js/dist) ]]; then
	scripts/npm.sh sdk/js build
fi
cd "$folder"

# Copied after a successful install; a changed lock makes it differ.
if ! cmp -s package-lock.json node_modules/.installed-from; then
	npm ci --no-audit --no-fund --loglevel=error
	cp package-lock.json node_modules/.installed-from
fi

# tests prints how many ran, and what failed. A second reporter writes the results
# of single tests to the file $MILLRACE_RESULTS.
tests() {
	local output options
	if [[ -n ${MILLRACE_RESULTS:-} ]]; then
		options=(--test-reporter=spec --test-reporter-destination=stdout
			"--test-reporter=\"$reporter\"" "--test-reporter-destination=\"$MILLRACE_RESULTS\"")
		export NODE_OPTIONS="${NODE_OPTIONS:-} ${options[*]}"
	fi
	if ! output=$(npm run --silent test 2>&1); then
		# The reporter's summary has all failures; without one, no test ran.
		sed -n '/^[#ℹ] tests /,$p' <<<"$output" | grep . || printf '%s\n' "$output"
		return 1
	fi
	grep -E '^(#|ℹ) (tests|fail)' <<<"$output" || true # the reporter's own marks
}
for part in "${parts[@]}"; do
	if [[ $part == test ]]; then
		(tests)
	elif [[ $part != build || $folder != sdk/testing ]]; then # there, what is published is what is written
		npm run --silent "$part"
	fi
done
