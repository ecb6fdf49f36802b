#!/usr/bin/env bash
# Builds the container image with Podman and runs it with runc: the commands of
# docs/containers.md, the user and the rights of the process, the health check, a drain, a
# stop, and clients over TLS. Needs root on Debian, and installs Podman, runc and debootstrap.
#
# The image from which the Dockerfile builds is not pulled: in its place, under its name, is a
# Debian by debootstrap with the Go of this machine, which gets modules from this machine's
# cache. So what runs is the Dockerfile with all of its steps, but not golang's image.
#
# Networks, processes and mounts are in namespaces of their own, and end with the script.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ${1:-} != inside ]]; then
	if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
		echo 'the soak of the image needs root on Debian, for Podman and debootstrap' >&2
		exit 1
	fi
	missing=()
	for package in podman runc netavark aardvark-dns iptables debootstrap; do
		dpkg-query -W "$package" >/dev/null 2>&1 || missing+=("$package")
	done
	if [[ ${#missing[@]} -gt 0 ]]; then
		apt-get update
		apt-get install -y --no-install-recommends "${missing[@]}"
	fi
	go mod download
	work=$(mktemp -d)
	trap 'rm -rf --one-file-system "$work"' EXIT
	echo "== the image to build from: Debian with $(go version)"
	read -r mirror suite < <(apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(ORIGIN) $(LABEL) $(COMPONENT)' 'Created-By: Packages' |
		awk '$3 == "Debian" && $4 == "Debian" && $5 == "main" && $2 !~ /-/ { print $1, $2; exit }')
	if ! unshare --mount --propagation private debootstrap --variant=minbase --include=ca-certificates "$suite" "$work/tree" "$mirror" >"$work/debootstrap.log" 2>&1; then
		tail -n 20 "$work/debootstrap.log" >&2
		exit 1
	fi
	unshare --mount --net --pid --fork --kill-child --mount-proc "$0" inside "$work"
	exit
fi

work=$2
mount --make-rprivate /
ip link set lo up
export TMPDIR=$work/tmp # where it keeps the caches of builds
mkdir "$TMPDIR"
say() { printf '== %s\n' "$*"; }
fail() {
	echo "$*" >&2
	for name in millrace edge; do podman logs --tail 20 "$name" >&2 || true; done
	exit 1
}

# docker and podman are what docs/containers.md calls, with what this machine needs beside:
# crun, the default, asks for more than some machines allow, and so do Podman's default limits.
limits=(--ulimit "nofile=$(ulimit -H -n):$(ulimit -H -n)" --ulimit "nproc=$(ulimit -H -u):$(ulimit -H -u)")
podman() {
	local verb=$1 options=()
	shift
	case $verb in
	build) options=(--pull=never --network none --build-context "$from=container-image://localhost/golang"
		--volume "$(go env GOMODCACHE)/cache/download:/modules:ro" "${limits[@]}") ;;
	run) options=("${limits[@]}") ;;
	esac
	command podman --root "$work/storage" --runroot "$work/run" --tmpdir "$work/engine" --cgroup-manager cgroupfs --runtime runc \
		--events-backend none "$verb" "${options[@]}" "$@" 2> >(grep -v 'unable to get systemd connection' >&2) # which would run the health check
}
docker() { podman "$@"; }

from=$(sed -n 's/^FROM .*\(golang:[^ ]*\) AS build$/\1/p' Dockerfile)
cp -a "$(go env GOROOT)" "$work/tree/usr/local/go"
tar --directory "$work/tree" --one-file-system --create . |
	podman import --change 'ENV PATH=/usr/local/go/bin:/usr/bin:/bin' --change 'ENV GOTOOLCHAIN=local' --change 'ENV GOPROXY=file:///modules' \
		--change 'ENV GONOSUMDB=*' - localhost/golang >/dev/null
rm -rf --one-file-system "$work/tree"

# block prints the block of commands of docs/containers.md that has a line which begins with $1.
block() {
	awk -v first="$1" '/^```/ { if (found) printf "%s", text; text = ""; found = 0; next }
		{ text = text $0 "\n"; if (index($0, first) == 1) found = 1 }' docs/containers.md | sed -e ':a' -e '/\\$/N; s/\\\n *//; ta'
}
# documented runs commands of docs/containers.md, a line each.
documented() {
	local command
	while IFS= read -r command; do
		say "  $command"
		eval "$command" </dev/null || fail "docs/containers.md: $command"
	done <<<"$1"
}

documented "$(block 'podman build')" >"$work/build.log" 2>&1 || fail "$(tail -n 20 "$work/build.log")"
say "$(($(podman image inspect --format '{{.Size}}' millrace) / 1000000)) MB"
trial=$(block 'docker run -d --name millrace ' | grep -v '^docker build')
documented "$trial" >"$work/received" 2>&1 || fail "$(cat "$work/received")"
# arrived waits until the subscriber of the document has printed a line, $1, and does the rest
# until then: the subscriber may not have been ready for what came before.
arrived() {
	local line=$1
	for _ in {1..60}; do
		! grep -qx "$line" "$work/received" || return 0
		"${@:2}"
		sleep 1 # the document's subscriber writes to a pipe of the engine
	done
	fail "no '$line': $(cat "$work/received")"
}
arrived 'news.today Hello, mill' eval "$(tail -n 1 <<<"$trial")"

say 'the process: its user, no capability, nothing to write to but its volumes'
edge=$(podman inspect --format '{{.State.Pid}}' millrace)
for line in 'Uid:.65532.65532.65532.65532' 'Gid:.65532.65532.65532.65532' 'CapEff:.0*' 'CapPrm:.0*' 'CapBnd:.0*' 'NoNewPrivs:.1' 'Seccomp:.2'; do
	grep -x "$line" "/proc/$edge/status" || fail "the edge is not $line"
done
grep -q ' / / ro,' <(sed 's/ [^ ]* \/ / \/ \/ /' "/proc/$edge/mountinfo") || fail "the root can be written to: $(cat "/proc/$edge/mountinfo")"

say 'the health check: fails while the edge drains'
podman healthcheck run millrace || fail 'the edge is not healthy'
in_container() { podman exec -e MILLRACE_TOKEN millrace millrace pubsub "$@"; }
in_container drain
! podman healthcheck run millrace || fail 'an edge that drains is healthy'
in_container undrain
podman healthcheck run millrace || fail 'the edge is not healthy after undrain'

say 'clients of this machine, by the ports of the container'
program=$(podman mount millrace)/usr/bin/millrace
ca=$(podman volume inspect --format '{{.Mountpoint}}' millrace)/caddy/pki/authorities/local/root.crt
publish() { "$program" pubsub publish --tenant demo --ca "$ca" "$@"; }
curl --silent --show-error --fail --output /dev/null --cacert "$ca" https://localhost:8443/ping
"$program" pubsub subscribe --tenant demo --ca "$ca" --url wss://localhost:8443/ws 'news.#' >>"$work/received" 2>"$work/subscribed" &
subscriber=$!
arrived 'news.tcp over WebSocket' publish --url wss://localhost:8443/ws news.tcp 'over WebSocket'
arrived 'news.udp over WebTransport' publish --url https://localhost:8443 --transport webtransport news.udp 'over WebTransport'
kill "$subscriber"
wait "$subscriber" || fail "the subscriber: $(cat "$work/subscribed")"

say 'reload, stop and start'
podman exec millrace millrace reload --config /etc/millrace/Caddyfile
podman stop millrace
[[ $(podman inspect --format '{{.State.ExitCode}}' millrace) == 0 ]] || fail 'the edge ended with another exit code than 0'
podman logs millrace 2>&1 | grep -i 'read-only file system\|permission denied' && fail 'something could not be written'
podman start millrace
documented "$(grep '^until' <<<"$trial")"
in_container publish --url wss://localhost/ws --ca /data/caddy/pki/authorities/local/root.crt --tenant demo news.after 'the token is in the volume'
podman stop millrace

documented "$(block 'docker run -d --name edge ')" >"$work/public.log" 2>&1 || fail "$(cat "$work/public.log")"
grep 'MT_' "$work/public.log" >/dev/null || fail "no master token: $(cat "$work/public.log")"
podman stop edge
say 'all is well'
