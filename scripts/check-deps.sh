#!/usr/bin/env bash
# Lists everything that `make test` or `make check` needs and this machine lacks, and how
# Debian installs it. Builds and installs nothing.
#
#   scripts/check-deps.sh test | check
set -euo pipefail

case ${1:-} in
test | check) for=$1 ;;
*)
	echo "usage: $0 test | check" >&2
	exit 2
	;;
esac

missing=()  # what, for people
packages=() # of Debian
lacks() {
	missing+=("$1")
	[[ -z ${2:-} ]] || packages+=("$2")
}
has() { command -v "$1" >/dev/null 2>&1; }

# at_least 20.11 20 is true.
at_least() { [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n1) == "$2" ]]; }

if ! has go; then
	lacks 'go, 1.26 or newer (https://go.dev/dl/)'
elif version=$(go env GOVERSION 2>/dev/null) && ! at_least "${version#go}" 1.26; then
	lacks "go 1.26 or newer, this is ${version#go} (https://go.dev/dl/)"
fi

if ! has node; then
	lacks 'node, 20 or newer (https://nodejs.org)'
elif version=$(node --version) && ! at_least "${version#v}" 20; then
	lacks "node 20 or newer, this is ${version#v} (https://nodejs.org)"
fi
has npm || lacks 'npm, which comes with Node'

if ! has python3; then
	lacks 'python3, 3.10 or newer' python3
elif version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])') && ! at_least "$version" 3.10; then
	lacks "python3 3.10 or newer, this is $version"
fi
if ! has python3 || ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
	lacks "python3's module venv" python3-venv
fi

# What scripts and tests call, in addition to what every Debian has.
for tool in curl git make; do
	has "$tool" || lacks "$tool" "$tool"
done

needs_for_check() {
	# The race detector links with the compiler that Go names, which is gcc or clang.
	local compiler
	compiler=${CC:-$(go env CC 2>/dev/null || echo gcc)}
	has "${compiler%% *}" || lacks "a C compiler ($compiler), for the race detector" gcc
	if ! has "${compiler%% *}" || ! echo '#include <stdlib.h>' | $compiler -E - >/dev/null 2>&1; then
		[[ $OSTYPE != linux* ]] || lacks "the C library's headers" libc6-dev
	fi

	# install-test-deps.sh installs what follows where it can: on Debian, as root or with sudo.
	installs() {
		has apt-get && { [[ $EUID -eq 0 ]] || { has sudo && sudo --non-interactive true 2>/dev/null; }; }
	}
	browser() { # name, variable, package
		local program=${!2:-}
		if [[ -n $program ]]; then
			[[ -x $program ]] || lacks "a browser: $2 is $program, which is not a program"
		elif [[ ! -x /usr/bin/$3 ]] && { ! installs || [[ ${#missing[@]} -gt 0 ]]; }; then
			lacks "$1 in /usr/bin/$3; elsewhere $2 names the program" "$3"
		fi
	}
	browser Chromium CHROMIUM chromium
	browser Firefox FIREFOX firefox-esr
	if [[ $OSTYPE == linux* ]] && { ! installs || [[ ${#missing[@]} -gt 0 ]]; }; then
		has systemd-analyze || lacks 'systemd-analyze, which comes with systemd' systemd
		has tinyproxy || lacks tinyproxy tinyproxy-bin
		has php || lacks 'PHP (php)' php-cli
		[[ -x /usr/sbin/nginx ]] || lacks nginx nginx
		[[ -x /usr/sbin/haproxy ]] || lacks HAProxy haproxy
		compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' >/dev/null || lacks libfaketime libfaketime
	fi
	if [[ $OSTYPE == linux* ]] && ! has tinyproxy && { ! installs || [[ ${#missing[@]} -gt 0 ]]; }; then
		lacks tinyproxy tinyproxy-bin
	fi
}
[[ $for == test ]] || needs_for_check

if [[ ${#missing[@]} -gt 0 ]]; then
	{
		echo "make $for needs the following, which this machine lacks:"
		printf '  %s\n' "${missing[@]}"
		if [[ ${#packages[@]} -gt 0 ]]; then
			echo 'On Debian, as root:'
			echo "  apt-get update && apt-get install --no-install-recommends ${packages[*]}"
		fi
	} >&2
	exit 1
fi
