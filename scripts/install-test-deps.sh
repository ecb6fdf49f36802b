#!/usr/bin/env bash
# Installs what `make check` needs beyond `make test`, which installs nothing outside of the
# checkout: the third-party clients that the integration tests drive, playwright-core
# for Node, websockets and aioquic for Python, in the versions pinned in
# integration/clients, what the pages of the documentation install (integration/guides/npm), and from Debian, as root or with sudo, the browsers Chromium and
# Firefox, systemd-analyze, which checks the unit of the packages, libfaketime, which shifts a
# program's clock, and the proxies nginx, HAProxy and tinyproxy, none of which starts as a
# service. It also builds @millrace/client (sdk/js) and links it there, as it does millrace-client (sdk/python),
# and builds @millrace/react (sdk/react), and installs what builds the documentation. Needs Node 20 and Python 3.10 or newer. Installs
# nothing that is already there.
#
# CHROMIUM names a Chromium or Chrome that is not /usr/bin/chromium. FIREFOX names
# the program of a Firefox that is not /usr/bin/firefox-esr, and not a script that
# starts it.
set -euo pipefail
cd "$(dirname "$0")/../integration/clients"

# Copied after a successful install; a changed pin makes it differ.
stamp() { cmp -s "$1" "$2/.installed-from"; }

for tool in curl node npm python3; do
	if ! command -v "$tool" >/dev/null; then
		echo "$tool is missing: the integration tests need curl, Node 20 (with npm) and Python 3.10, or newer" >&2
		exit 1
	fi
done

if ! stamp package-lock.json node_modules; then
	npm ci --no-audit --no-fund --loglevel=error
	cp package-lock.json node_modules/.installed-from
fi

# The SDK, which the tests import by its name.
../../scripts/npm.sh sdk/js build
mkdir -p node_modules/@millrace
ln -sfn ../../../../sdk/js node_modules/@millrace/client
npm --prefix ../../examples install --loglevel=error # a link to it, too

# What the pages of README.md, docs/quickstart and docs/how-to install.
guides=../guides/npm
if ! stamp $guides/package-lock.json $guides/node_modules; then
	npm --prefix $guides ci --loglevel=error
	cp $guides/package-lock.json $guides/node_modules/.installed-from
fi

# The page of an example, with the hooks for React.
../../scripts/npm.sh sdk/react build
page=../../examples/python/streaming/page
if ! stamp "$page/package-lock.json" "$page/node_modules"; then
	npm --prefix "$page" ci --loglevel=error
	cp "$page/package-lock.json" "$page/node_modules/.installed-from"
fi
npm --prefix "$page" run --silent build -- --log-level=warning

../../scripts/docs.sh install

if ! stamp requirements.txt .venv; then
	if ! python3 -m venv --clear .venv; then
		echo 'python3 has no venv module: on Debian, apt-get install python3-venv' >&2
		exit 1
	fi
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	cp requirements.txt .venv/.installed-from
fi
# The SDK, as an editable installation would have it.
site=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
(cd ../../sdk/python/src && pwd) >"$site/millrace.pth"

packages=() # to install
browser() { # variable, package
	local program=${!1:-/usr/bin/$2}
	if [[ -x $program ]]; then
		return
	fi
	if [[ -n ${!1:-} ]]; then
		echo "$1 is $program, which is not a program" >&2
		exit 1
	fi
	packages+=("$2")
}
browser CHROMIUM chromium
browser FIREFOX firefox-esr
if [[ $OSTYPE == linux* ]]; then
	command -v systemd-analyze >/dev/null || packages+=(systemd)
	command -v tinyproxy >/dev/null || packages+=(tinyproxy-bin)
	compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' >/dev/null || packages+=(libfaketime)
	command -v php >/dev/null || packages+=(php-cli)
	for server in nginx haproxy; do
		[[ -x /usr/sbin/$server ]] || packages+=("$server")
	done
fi

if [[ ${#packages[@]} -gt 0 ]]; then
	root=()
	if [[ $EUID -ne 0 ]]; then
		root=(sudo --non-interactive)
	fi
	if ! command -v apt-get >/dev/null || ! "${root[@]}" true 2>/dev/null; then
		echo "this script cannot install ${packages[*]} here. On Debian, as root: apt-get install ${packages[*]}." \
			'Elsewhere: install Chromium or Chrome, and Firefox, and set CHROMIUM and FIREFOX to their programs;' \
			'systemd-analyze comes with systemd, and tinyproxy with a package of its name' >&2
		exit 1
	fi
	"${root[@]}" apt-get update
	# What is installed for tests does not start as a service.
	policy=/usr/sbin/policy-rc.d
	if [[ ! -e $policy ]]; then
		printf '#!/bin/sh\nexit 101\n' | "${root[@]}" tee $policy >/dev/null
		"${root[@]}" chmod +x $policy
		trap '"${root[@]}" rm $policy' EXIT
	fi
	"${root[@]}" apt-get install -y --no-install-recommends "${packages[@]}"
fi
