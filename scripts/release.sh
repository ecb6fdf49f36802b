#!/usr/bin/env bash
# Builds what a release consists of into dist/release: archives, packages, SBOMs and
# checksums. It publishes nothing, and needs no network but for Go modules.
#
#   scripts/release.sh                    all targets of .goreleaser.yaml
#   scripts/release.sh linux_amd64...     the named ones
#   scripts/release.sh verify [TARGET...] builds the last commit (linux_amd64) in two folders,
#                                         and compares the checksums
#
# MILLRACE_VERSION is the version instead of that of scripts/version.sh, for trials.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ${1:-} == verify ]]; then
	shift
	[[ $# -gt 0 ]] || set -- linux_amd64
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	MILLRACE_TOOLS_CACHE=$(go env GOCACHE)
	export MILLRACE_TOOLS_CACHE
	git clone --quiet . "$work/one"
	git clone --quiet . "$work/another/folder"
	"$work/one/scripts/release.sh" "$@"
	# The second build compiles everything again.
	GOCACHE=$work/cache "$work/another/folder/scripts/release.sh" "$@"
	cat "$work"/one/dist/release/*_checksums.txt
	if ! diff "$work"/one/dist/release/*_checksums.txt "$work"/another/folder/dist/release/*_checksums.txt; then
		echo 'two builds of the same commit differ' >&2
		exit 1
	fi
	echo 'both folders have these checksums'
	exit
fi

# The program has its version from the same place; a trial's is given to the linker.
export MILLRACE_LDFLAGS=
if [[ -n ${MILLRACE_VERSION:-} ]]; then
	MILLRACE_LDFLAGS="-X github.com/millrace/millrace/internal/version.number=${MILLRACE_VERSION/\~/-}"
fi
export MILLRACE_VERSION=${MILLRACE_VERSION:-$(scripts/version.sh)}

# Tools are compiled with the same flags in every checkout: see scripts/test.sh.
tool() { GOCACHE=${MILLRACE_TOOLS_CACHE:-$(go env GOCACHE)} GOFLAGS="${GOFLAGS:-} -trimpath" go tool -modfile=tools/release/go.mod -n "$1"; }
goreleaser=$(tool goreleaser)
sbom=$(tool cyclonedx-gomod)
export PATH=${sbom%/*}:$PATH

# Completions and manual pages, by the program itself, for all targets the same.
package=dist/package
rm -rf "$package"
CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$package/millrace" ./cmd/millrace
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) scripts/package-pages.sh "$package/millrace" "$package"
rm "$package/millrace"

config=.goreleaser.yaml
if [[ $# -gt 0 ]]; then
	config=$package/goreleaser.yaml
	awk -v wanted=" $* " '!/^      - (linux|darwin|windows)_/ || index(wanted, " " $2 " ")' .goreleaser.yaml >"$config"
	for target in "$@"; do
		if ! grep -q -- "^      - $target\$" "$config"; then
			echo "there is no target $target in .goreleaser.yaml" >&2
			exit 2
		fi
	done
fi
"$goreleaser" check "$config"
# --parallelism 1: each build already compiles on all processors.
"$goreleaser" release --config "$config" --snapshot --clean --parallelism 1
