#!/usr/bin/env bash
# Installs the Debian package in a fresh Debian without Go, whose systemd runs the service:
# its sandbox, reloads, a crash, an upgrade below clients, a start of the machine, a removal,
# and a purge, which leaves nothing. Then it installs the RPM package there. It also runs the
# commands of docs/install.md, as a user with sudo. Needs root on Debian, and installs
# debootstrap and systemd-nspawn.
#
# The packages are built here, the second one as version 0.1.1~test. Everything else is
# in scripts/soak-package-inside.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
	echo 'the soak of the packages needs root on Debian, for debootstrap and systemd-nspawn' >&2
	exit 1
fi
missing=()
command -v debootstrap >/dev/null || missing+=(debootstrap)
command -v systemd-nspawn >/dev/null || missing+=(systemd-container)
if [[ ${#missing[@]} -gt 0 ]]; then
	apt-get update
	apt-get install -y --no-install-recommends "${missing[@]}"
fi

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
tree=$work/tree
mkdir "$work/packages"

arch=$(go env GOARCH)
for version in '' 0.1.1~test; do
	MILLRACE_VERSION=$version scripts/release.sh "linux_$arch"
	cp dist/release/*.deb dist/release/*.rpm "$work/packages/"
	[[ -n $version ]] || cp dist/release/*.tar.gz dist/release/*_checksums.txt "$work/packages/"
done

# The mirror and the release that apt uses here.
read -r mirror suite < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(ORIGIN) $(LABEL) $(COMPONENT)' 'Created-By: Packages' |
	awk '$3 == "Debian" && $4 == "Debian" && $5 == "main" && $2 !~ /-/ { print $1, $2; exit }') ||
	{
		echo 'apt knows no Debian mirror here: run apt-get update' >&2
		exit 1
	}
# It mounts things in the tree: with the namespace, these mounts end.
echo "== debootstrap: $suite"
if ! unshare --mount --propagation private debootstrap --variant=minbase --include=systemd-sysv,dbus,iproute2,rpm,sudo,curl,ca-certificates "$suite" "$tree" "$mirror" >"$work/debootstrap.log" 2>&1; then
	tail -n 30 "$work/debootstrap.log" >&2
	exit 1
fi

scripts/soak-package-inside.sh "$work"
