#!/usr/bin/env bash
# The part of scripts/soak-package.sh that installs and runs the packages: $1 is its
# folder, with a Debian in tree and both versions in packages. What systemd would do, it
# does itself, as the installed unit says, since no systemd runs in the tree.
set -euo pipefail
work=$1 tree=$1/tree
unit=$tree/lib/systemd/system/millrace.service

fail() {
	echo "$*" >&2
	[[ ! -f $work/edge.log ]] || tail -n 20 "$work/edge.log" >&2
	exit 1
}
say() { printf '== %s\n' "$*"; }

ip link set lo up
mount -t proc proc "$tree/proc"
mount -t tmpfs tmpfs "$tree/run"
mkdir "$tree/packages"
mount --bind "$work/packages" "$tree/packages"

# inside runs a command in the tree as root, whatever is set here.
inside() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		chroot "$tree" "$@" </dev/null
}

# files lists what is in the tree, but for the journals of dpkg and of useradd.
files() {
	(
		cd "$tree"
		find . -xdev \( -path ./tmp -o -path ./run -o -path ./proc -o -path './var/lib/dpkg/status*' -o -path ./var/log/dpkg.log \
			-o -path './etc/passwd-' -o -path './etc/group-' -o -path './etc/shadow-' -o -path './etc/gshadow-' -o -path ./etc/.pwd.lock \
			-o -path './var/lib/dpkg/triggers/Lock' -o -path './var/lib/dpkg/lock*' \) -prune -o -printf '%p %y %m %U:%G %l\n'
		find etc usr/bin usr/lib -xdev -type f ! -name '*-' -exec sha256sum {} +
	) | sort
}

# The unit, as systemd reads it.
value() { sed -n "s/^$1=//p" "$unit"; }
as_unit() {
	local vars=() line
	for line in $(value Environment); do vars+=("$line"); done
	if [[ -f $tree/etc/millrace/environment ]]; then
		while IFS= read -r line; do vars+=("$line"); done <"$tree/etc/millrace/environment"
	fi
	ulimit -n "$(value LimitNOFILE)" 2>/dev/null || ulimit -n "$(ulimit -H -n)" # what a container allows
	umask "$(value UMask)"
	local capability=net_bind_service # of CAP_NET_BIND_SERVICE
	[[ $(value AmbientCapabilities) == CAP_NET_BIND_SERVICE && $(value CapabilityBoundingSet) == CAP_NET_BIND_SERVICE ]] || fail 'other capabilities'
	exec env -i /usr/sbin/chroot "$tree" /usr/bin/setpriv --reuid "$(value User)" --regid "$(value Group)" --init-groups --no-new-privs \
		--inh-caps "-all,+$capability" --ambient-caps "-all,+$capability" --bounding-set "-all,+$capability" \
		/usr/bin/env -C "$(value WorkingDirectory)" HOME=/var/lib/millrace PATH=/usr/bin:/bin NOTIFY_SOCKET=/run/notify "${vars[@]}" "$@"
}

# What the edge tells systemd, one line each.
coproc notify {
	exec python3 -uc '
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
print("bound")
while True:
    print(s.recv(4096).decode())
' "$tree/run/notify"
}
notified=${notify[0]} notifier=$notify_PID
edge=
await() { # in vain, if the edge ends
	local line end=$((SECONDS + 120))
	while [[ $SECONDS -lt $end ]] && { [[ -z $edge ]] || kill -0 "$edge" 2>/dev/null; }; do
		if read -r -t 1 -u "$notified" line && [[ $line == "$1" ]]; then return 0; fi
	done
	fail "no $1"
}
await bound

start() {
	local folder
	for folder in "var/lib/$(value StateDirectory)" "var/log/$(value LogsDirectory)" "run/$(value RuntimeDirectory)"; do
		inside install -d -o "$(value User)" -g "$(value Group)" -m 0750 "/$folder"
	done
	# shellcheck disable=SC2046 # words, as systemd splits them
	as_unit $(value ExecStart) >>"$work/edge.log" 2>&1 &
	edge=$!
	await READY=1
}
reload() {
	# shellcheck disable=SC2046
	(as_unit $(value ExecReload)) >>"$work/edge.log" 2>&1 || fail 'the reload failed'
	await READY=1
}
stop() { # within what systemd allows
	local begin=$SECONDS limit
	limit=$(value TimeoutStopSec)
	kill -TERM "$edge"
	timeout "${limit%s}" tail --pid="$edge" -f /dev/null || fail "the edge has not stopped after $limit"
	wait "$edge" || fail "the edge stopped with exit code $?"
	edge=
	say "stopped after $((SECONDS - begin)) s"
}

# The edge is READY before it has its first certificate, so this tries for some time.
ca=$tree/var/lib/millrace/caddy/pki/authorities/local/root.crt
over_tls() { curl --silent --show-error --fail --retry 60 --retry-delay 1 --retry-all-errors --cacert "$ca" "$@" 2>"$work/curl.log"; }
ping_tls() { over_tls --output /dev/null https://localhost:8443/ping || fail "no ping over TLS: $(tail -n 3 "$work/curl.log")"; }

clients=()
cleanup() {
	[[ ${#clients[@]} -eq 0 ]] || kill "${clients[@]}" 2>/dev/null || true
	[[ -z $edge ]] || kill -KILL "$edge" 2>/dev/null || true
	kill "$notifier" 2>/dev/null || true
	wait
}
trap cleanup EXIT

[[ ! -e $tree/usr/bin/go && ! -e $tree/usr/local/go ]] || fail 'there is Go in the tree'
first=$(cd "$work/packages" && ls ./*.deb | grep -v test)
second=$(cd "$work/packages" && ls ./*test*.deb)

say "install $first"
files >"$work/before"
inside dpkg --install "/packages/$first" || fail 'dpkg --install failed'
inside dpkg --verify millrace
[[ $(inside dpkg-query -W -f '${Conffiles}' millrace) == *' /etc/millrace/Caddyfile '* ]] || fail 'the Caddyfile is no conffile'
[[ $(stat -c %a "$tree/var/lib/millrace") == 750 ]] || fail 'the mode of /var/lib/millrace'
inside bash -c 'bash -n /usr/share/bash-completion/completions/millrace && cd /usr/share/man/man8 && gzip -t millrace*.gz && ls millrace-pubsub-publish.8.gz' >/dev/null
grep -q '^#compdef millrace' "$tree/usr/share/zsh/vendor-completions/_millrace"
[[ -s $tree/usr/share/fish/vendor_completions.d/millrace.fish ]]

say 'the edge as installed'
start
[[ $(stat -c %U:%a "/proc/$edge") != root:* ]] || fail 'the edge is root'
grep -q '^CapEff:[[:space:]]*0000000000000400$' "/proc/$edge/status" || fail "other capabilities: $(grep Cap "/proc/$edge/status")"
grep -q '^NoNewPrivs:[[:space:]]*1$' "/proc/$edge/status" || fail 'new privileges'
curl --silent --show-error --fail --output /dev/null http://localhost:8080/ping
ping_tls
[[ $(curl --silent --cacert "$ca" https://localhost:8443/ready) == ready* ]] || fail 'not ready'
public=$(ss -Hltun | awk '{ print $5 }' | grep -v '^127\.' || true)
[[ -z $public ]] || fail "it listens on $public"
inside millrace pubsub master-token create --name soak --tenant-prefix demo --quiet >"$work/master"
if inside setpriv --reuid nobody --clear-groups millrace pubsub connections >/dev/null 2>&1; then
	fail 'everybody may administer the edge'
fi
stop

say 'the edge as configured: TLS on port 443, and a history'
cat >"$tree/etc/millrace/Caddyfile" <<'CADDYFILE'
{
	admin unix//run/millrace/admin.sock
	default_bind 127.0.0.1
	auto_https disable_redirects
	skip_install_trust
	grace_period 10s
	pubsub {
		drain 7s
		master_token {env.MILLRACE_MASTER_TOKEN} {
			name configured
			tenant_prefix demo.
		}
		history_store badger
		history news {
			channels news.#
			messages 100000
		}
	}
}
https://127.0.0.1 {
	tls internal
	pubsub
	respond 404
}
CADDYFILE
random() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }
install -m 0600 /dev/null "$tree/etc/millrace/environment"
echo "MILLRACE_MASTER_TOKEN=MT_$(random)_$(random)" >"$tree/etc/millrace/environment"
start
reload
cp "$ca" "$tree/run/ca.crt" # for clients, who may not read the edge's data
chmod 0644 "$tree/run/ca.crt"

# issue prints an access token, issued with the master token of the file $1.
issue() {
	over_tls https://127.0.0.1/v1/get-token \
		-H "Authorization: Bearer $(sed 's/^MILLRACE_MASTER_TOKEN=//' "$1")" -H 'Content-Type: application/json' \
		-d '{"created_by":"soak","right":{"expires_at":"'"$(date -u -d '+1 hour' +%FT%TZ)"'","egress_kb_per_sec":1024,"tenant_grants":[
			{"tenant_ids":["room"],"allow_channels_pub":["news.#"],"allow_channels_sub":["news.#"],"allow_channels_history":["news.#"]}]}}' |
		sed 's/.*"token":"\([^"]*\)".*/\1/'
}
token=$(issue "$tree/etc/millrace/environment")
issue "$work/master" >/dev/null # the one that was made before is in the store
become_client() { # of a user who owns nothing
	exec env -i /usr/sbin/chroot "$tree" /usr/bin/setpriv --reuid nobody --regid nogroup --clear-groups \
		/usr/bin/env MILLRACE_TOKEN="$token" PATH=/usr/bin:/bin HOME=/nonexistent \
		millrace pubsub "$1" --ca /run/ca.crt --tenant demo.room "${@:2}" </dev/null
}
client() { (become_client "$@"); }

received=$work/received
touch "$received" "$work/subscriber.log" "$work/publisher.log"
become_client subscribe --url https://127.0.0.1 --from now 'news.#' >"$received" 2>"$work/subscriber.log" &
clients+=($!)
# printed waits until the file $1 has a line that matches $2.
printed() {
	grep -q -m1 -- "$2" < <(timeout 120 tail --pid=$$ -n +1 -f "$1") || fail "no $2: $(tail -n 5 "$1" "$work"/*er.log)"
}
arrived() { printed "$received" "$1"; }
printed "$work/subscriber.log" '^OK:RSUB:'

# publisher publishes numbers, each until it is confirmed, until there is a file stop.
publisher() {
	local i=0
	while [[ ! -e $work/stop ]]; do
		i=$((i + 1))
		until client publish --url wss://127.0.0.1/ws --confirm --key "$1-$i" "news.$1" "number $i" >/dev/null 2>>"$work/publisher.log"; do
			[[ $SECONDS -lt 900 ]] || exit 1
		done
	done
	echo "$i" >"$work/count.$1"
}
publishers=()
for name in a b; do
	publisher "$name" &
	publishers+=($!)
	clients+=($!)
done
arrived '^news\.a number 10$'

say "upgrade to $second"
cp "$tree/etc/millrace/Caddyfile" "$work/Caddyfile"
cp "$tree/usr/bin/millrace" "$work/millrace"
inside dpkg --install "/packages/$second" || fail 'the upgrade failed'
cmp "$work/Caddyfile" "$tree/etc/millrace/Caddyfile" || fail 'the upgrade changed the Caddyfile'
cmp -s "$work/millrace" "$tree/usr/bin/millrace" && fail 'the second build is the first'
[[ $(inside dpkg-query -W -f '${Version}' millrace) == 0.1.1~test ]] || fail 'another version'
sent=$(wc -l <"$received")
stop # postinst restarts the service where systemd runs
start
cmp "/proc/$edge/exe" "$tree/usr/bin/millrace" || fail 'another program runs'
say "$sent messages before the restart"
last=$(grep -c '^news\.a ' "$received")
arrived "^news\\.a number $((last + 10))\$"
touch "$work/stop"
wait "${publishers[@]}"
client publish --url wss://127.0.0.1/ws --confirm news.end end >/dev/null
arrived '^news\.end end$'
for name in a b; do
	count=$(cat "$work/count.$name")
	diff <(grep "^news\\.$name " "$received") <(seq -f "news.$name number %g" "$count") >"$work/diff" ||
		fail "of $count messages of $name the subscriber has others: $(head -n 5 "$work/diff")"
	say "$count messages of $name: all received, once and in order"
done
client publish --url https://127.0.0.1 --transport webtransport --confirm news.over 'by WebTransport' >/dev/null
arrived '^news\.over by WebTransport$'
kill -INT "${clients[0]}" && wait "${clients[0]}" || fail 'the subscriber failed'
clients=()
stop

say purge
inside dpkg --purge millrace || fail 'the purge failed'
files >"$work/after"
diff "$work/before" "$work/after" || fail 'the purge left the lines above'
say "the same $(wc -l <"$work/before") lines about files as before"

say "docs/install.md: Debian, as a user with sudo"
inside useradd --create-home --shell /bin/bash visitor
echo 'visitor ALL=(ALL) NOPASSWD: ALL' >"$tree/etc/sudoers.d/visitor"
echo "127.0.0.1 localhost $(hostname)" >"$tree/etc/hosts" # sudo looks for the machine
cp "$work"/packages/* "$tree/home/visitor/"

# documented prints the commands of a section of docs/install.md.
documented() {
	scripts/install-commands.sh "$1" | if [[ $(dpkg --print-architecture) == arm64 ]]; then sed 's/amd64/arm64/g; s/x86_64/aarch64/g'; else cat; fi
}
# This user runs commands; sudoedit has an editor that adds a line.
become_visitor() {
	exec env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/visitor LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive SUDO_EDITOR='sed -i $a#changed' \
		/usr/sbin/chroot "$tree" setpriv --reuid visitor --regid visitor --init-groups env -C /home/visitor bash -exc "$1" </dev/null
}
visitor() { (become_visitor "$@"); }
# visit runs a section, and starts the edge when a package has been installed.
visit() {
	local commands command
	commands=$(documented "$1")
	while IFS= read -r command; do
		say "  $command"
		visitor "$command" >"$work/visitor.log" 2>&1 || fail "docs/install.md: $command: $(tail -n 20 "$work/visitor.log")"
		[[ $command != *' apt-get install '* ]] || start
	done <<<"$commands"
}

visit 'Debian and Ubuntu'
visit 'What the packages install'
grep -q '^#changed' "$tree/etc/millrace/Caddyfile" || fail 'sudoedit has changed nothing'
reload
stop
inside dpkg --purge millrace

say RPM
unit=$tree/usr/lib/systemd/system/millrace.service
rpms() { inside rpm --force-debian --nodeps "$@"; } # to this rpm, what Debian installed is not there
first=$(cd "$work/packages" && ls ./*.rpm | grep -v test)
second=$(cd "$work/packages" && ls ./*test*.rpm)
rpms --install "/packages/$first"
rpms --verify millrace
start
ping_tls
visit 'Fedora, RHEL and others with RPM'
reload
stop
rpms --upgrade "/packages/$second"
grep -q '^#changed' "$tree/etc/millrace/Caddyfile" || fail 'the upgrade changed the Caddyfile'
rpms --erase millrace
[[ ! -e $tree/usr/bin/millrace && -d $tree/var/lib/millrace/caddy && -e $tree/etc/millrace/Caddyfile.rpmsave ]] || fail 'the erasure of the RPM'

say 'docs/install.md: the program'
program=$(documented 'The program')
become_visitor "${program/%millrace pubsub dev/exec millrace pubsub dev}" >"$work/dev.log" 2>&1 &
clients=($!)
printed "$work/dev.log" 'Ctrl+C stops the edge.'
curl --silent --show-error --fail --output /dev/null http://localhost:8080/ping
kill -TERM "${clients[0]}" && wait "${clients[0]}" || fail "millrace pubsub dev failed: $(tail -n 5 "$work/dev.log")"
clients=()
grep -q '\.tar\.gz: OK$' "$work/dev.log" || fail "sha256sum has not checked the archive"
say 'all is well'
