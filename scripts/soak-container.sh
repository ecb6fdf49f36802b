#!/usr/bin/env bash
# Runs the container image without a container engine: builds the program as the Dockerfile
# does, makes the root folder of its last stage, and runs the edge in namespaces of its own,
# with that folder as a read-only root, as the image's user, without any capability. A
# client publishes and subscribes over TLS. Needs Linux and root.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ${1:-} != inside ]]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	root=$work/root
	export CGO_ENABLED=0
	# The line of the Dockerfile, with another folder than /out.
	build=$(sed -n "s|^    \(go build .*\) /out\(/[^ ]*\) \(.*\)\$|\1 '$root\2' \3|p" Dockerfile)
	[[ $build == *'-o '* ]] || { echo "the Dockerfile has no line that builds the program" >&2; exit 1; }
	eval "$build"
	deploy/container/root.sh "$root"
	user=$(sed -n 's/^USER //p' Dockerfile)
	chown "$user" "$root/data" "$root/config"
	# Container engines make these.
	mkdir "$root/proc"
	printf '127.0.0.1 localhost\n::1 localhost\n' >"$root/etc/hosts"
	chmod 0755 "$work" "$root"
	timeout 300 unshare --mount --net --pid --fork --kill-child --mount-proc "$0" inside "$root" "$user"
	exit
fi

# In namespaces of our own; what is mounted and started here ends with this script.
root=$2 user=$3
ip link set lo up
# As container engines do: ports below 1024 need no capability.
echo 0 >/proc/sys/net/ipv4/ip_unprivileged_port_start
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
for volume in data config; do
	mount --bind "$root/$volume" "$root/$volume"
done
mount -o remount,bind,ro "$root"
if touch "$root/etc/written" 2>/dev/null; then
	echo 'the root can be written to' >&2
	exit 1
fi

# The variables of the image. The capabilities here are those that chroot needs; it drops
# them with the user.
mapfile -t variables < <(sed -n 's/^ENV //p' Dockerfile | tr ' ' '\n')
variables+=("HOME=$(cut -d: -f6 "$root/etc/passwd")") # engines take it from there
contained=(env -i "${variables[@]}" /usr/bin/setpriv --no-new-privs --inh-caps=-all
	--bounding-set=-all,+sys_chroot,+setuid,+setgid
	/usr/sbin/chroot "--userspec=$user" --groups= "$root" /usr/bin/millrace)
mapfile -t arguments < <(sed -n 's/^CMD \[\(.*\)\]$/\1/p' Dockerfile | tr -d ' "' | tr ',' '\n')

"${contained[@]}" "${arguments[@]}" >"$root/../log" 2>&1 &
edge=$!
fail() {
	cat "$root/../log" >&2
	echo "$*" >&2
	exit 1
}

# The health check of the image.
until "${contained[@]}" pubsub ready 2>/dev/null; do
	kill -0 "$edge" 2>/dev/null || fail 'the edge has ended'
	sleep 0.5 # timeout(1) above bounds this
done
for line in 'Uid:.65532.65532.65532.65532' 'Gid:.65532.65532.65532.65532' 'CapEff:.0*' 'CapPrm:.0*' 'CapAmb:.0*' 'NoNewPrivs:.1'; do
	grep -x "$line" "/proc/$edge/status" || fail "the edge is not $line"
done
[[ $(stat -c %d:%i "/proc/$edge/root/") == $(stat -c %d:%i "$root") ]] || fail 'the edge has another root'

export MILLRACE_TOKEN
MILLRACE_TOKEN=$("${contained[@]}" pubsub token issue --tenant demo --pub '#' --sub '#' --quiet)
client() { # the verb, then the rest
	exec "$root/usr/bin/millrace" pubsub "$1" --tenant demo --ca "$root/data/caddy/pki/authorities/local/root.crt" "${@:2}"
}
client subscribe --url wss://localhost/ws 'news.#' >"$root/../received" 2>"$root/../subscribed" &
subscriber=$!
until grep -q 'OK:SUB\|subscribed' "$root/../subscribed"; do
	kill -0 "$subscriber" 2>/dev/null || fail "$(cat "$root/../subscribed")"
	sleep 0.2
done
(client publish --url wss://localhost/ws news.tcp 'over WebSocket')
(client publish --url https://localhost --transport webtransport news.udp 'over WebTransport')
until [[ $(wc -l <"$root/../received") -ge 2 ]]; do
	kill -0 "$subscriber" 2>/dev/null || fail "$(cat "$root/../subscribed")"
	sleep 0.2
done
cat "$root/../received"
kill "$subscriber"
wait "$subscriber" || fail 'the subscriber failed'

kill "$edge" # as docker stop does
status=0
wait "$edge" || status=$?
[[ $status -eq 0 ]] || fail "the edge ended with exit code $status"
[[ -d $root/data/caddy/pubsub/tokens ]] || fail 'the tokens are not in the volume'
grep -i 'read-only file system\|permission denied' "$root/../log" && fail 'something could not be written'
echo "the image has $(du -sm --exclude=data --exclude=proc "$root" | cut -f1) MB"
