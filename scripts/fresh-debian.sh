#!/usr/bin/env bash
# Runs the two commands of a newcomer, make dev and make test, in a fresh Debian, as a normal user, in a
# clone of what is committed here, with nothing installed but Go, Node, Python, git, make and
# curl. It prints how long each took, downloads and compiling included. Needs root on
# Debian, and installs debootstrap. Ports are this machine's: none of make dev's may be in use.
#
#   scripts/fresh-debian.sh [dev] [test]   default: both
#
# The Debian is kept in .cache/fresh-debian, and is read-only below a run. Go and Node are
# this machine's, and so is what tells package managers where to load from.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=ca-certificates,curl,git,make,python3,python3-venv
tree=$PWD/.cache/fresh-debian/$packages
home=/home/newcomer

if [[ ${1:-} != inside ]]; then
	if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
		echo 'this needs root on Debian, for debootstrap and chroot' >&2
		exit 1
	fi
	if ! command -v debootstrap >/dev/null; then
		apt-get update
		apt-get install -y --no-install-recommends debootstrap
	fi
	if [[ ! -d $tree ]]; then
		rm -rf --one-file-system "$tree.new"
		mkdir -p "$(dirname "$tree")"
		# The mirror and the release that apt uses here.
		# shellcheck disable=SC2016
		read -r mirror suite < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(ORIGIN) $(LABEL) $(COMPONENT)' 'Created-By: Packages' |
			awk '$3 == "Debian" && $4 == "Debian" && $5 == "main" && $2 !~ /-/ { print $1, $2; exit }') ||
			{
				echo 'apt knows no Debian mirror here: run apt-get update' >&2
				exit 1
			}
		echo "== debootstrap: $suite"
		unshare --mount --propagation private debootstrap --variant=minbase "--include=$packages" "$suite" "$tree.new" "$mirror" >"$tree.log" 2>&1 ||
			{
				tail -n 30 "$tree.log" >&2
				exit 1
			}
		useradd --root "$tree.new" --create-home --shell /bin/bash newcomer
		mkdir -p "$tree.new/usr/local/go" "$tree.new/opt/node/bin" "$tree.new/opt/node/lib/node_modules"
		cp "$(node -p process.execPath)" "$tree.new/opt/node/bin/node"
		cp -r "$(npm root --global)/npm" "$tree.new/opt/node/lib/node_modules/"
		ln -s ../lib/node_modules/npm/bin/npm-cli.js "$tree.new/opt/node/bin/npm"
		ln -s ../lib/node_modules/npm/bin/npx-cli.js "$tree.new/opt/node/bin/npx"
		mv "$tree.new" "$tree"
	fi
	work=$(mktemp -d -p "$(dirname "$tree")")
	trap 'rm -rf --one-file-system "$work"' EXIT
	mkdir -m 1777 "$work/tmp"
	mkdir "$work/home"
	git clone --quiet --no-hardlinks . "$work/home/millrace"
	[[ ! -f ~/.npmrc ]] || cp ~/.npmrc "$work/home/"
	chown -R --reference "$tree$home" "$work/home"
	chmod 755 "$work" "$work/home"
	[[ $# -gt 0 ]] || set -- dev test
	# With the namespaces, their processes and mounts end.
	unshare --mount --propagation private --pid --fork --kill-child --mount-proc "$0" inside "$work" "$@"
	exit
fi
work=$2
shift 2

mount --bind "$tree" "$tree"
mount --rbind /dev "$tree/dev"
mount -t proc proc "$tree/proc"
mount --bind "$work/home" "$tree$home"
mount --bind "$work/tmp" "$tree/tmp"
mount --bind "$(go env GOROOT)" "$tree/usr/local/go"
mount -o remount,bind,ro "$tree/usr/local/go"
for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs /etc/pip.conf; do # as they are here
	[[ ! -e $file ]] || { [[ -e $tree$file ]] || touch "$tree$file" && mount --bind "$file" "$tree$file"; }
done
mount -o remount,bind,ro "$tree"

# The variables that say where to load from, and whom to trust.
mapfile -t variables < <(env | grep -iE '^(GOPROXY|GOSUMDB|GONOSUMDB|GOFLAGS|PIP_[A-Z_]*|npm_config_[a-z_]*|[a-z]*_proxy|NODE_EXTRA_CA_CERTS|[A-Z_]*_CA_BUNDLE|SSL_CERT_[A-Z]*|GIT_SSL_CAINFO)=' || true)
newcomer() { # command...
	env -i HOME=$home USER=newcomer LANG=C.UTF-8 PATH=/opt/node/bin:/usr/local/go/bin:/usr/bin:/bin "${variables[@]}" \
		/usr/sbin/chroot --userspec=newcomer "$tree" /bin/bash -c "cd $home/millrace && $1"
}
fail() {
	tail -n 30 "$work"/dev* >&2
	echo "$*" >&2
	exit 1
}
took() { printf '== %s took %d min %d s\n' "$1" $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60)); }

# await waits for a line of a file while a process runs.
await() { # pattern, file, process, minutes
	local end=$((SECONDS + $4 * 60))
	until grep -q "$1" "$2"; do
		kill -0 "$3" 2>/dev/null || fail "it ended before it printed '$1'"
		[[ $SECONDS -lt $end ]] || fail "it did not print '$1' in $4 minutes"
		sleep 0.2
	done
}
# example prints the commands that make dev has printed below a comment.
example() { awk -v "title=# $1" 'index($0, title) == 1 { on = 1; next } on && !NF { exit } on' "$work/dev"; }

run_dev() {
	local dev subscriber
	touch "$work"/dev{,.log,.received,.subscriber}
	newcomer 'exec make dev' >"$work/dev" 2>"$work/dev.log" &
	dev=$!
	await 'Ctrl+C stops' "$work/dev" "$dev" 30
	newcomer "$(example 'Issue an access token')" | grep -q AT_ || fail 'no token was issued'
	newcomer "$(example Subscribe)" >"$work/dev.received" 2>"$work/dev.subscriber" &
	subscriber=$!
	await OK:SUB "$work/dev.subscriber" "$subscriber" 1
	newcomer "$(example Publish)" 2>>"$work/dev.log"
	await '^hello.world It runs' "$work/dev.received" "$subscriber" 1
	took 'make dev, until its example has worked,'
	kill -INT -- "-$dev" "-$subscriber"
	wait "$dev" "$subscriber" || true
}

status=0
for target in "$@"; do
	begin=$SECONDS
	case $target in
	dev)
		set -m # kill ends all of make dev
		run_dev
		set +m
		;;
	test)
		newcomer 'make test' || status=$?
		took 'make test'
		;;
	esac
done
exit "$status"
