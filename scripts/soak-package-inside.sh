#!/usr/bin/env bash
# The part of scripts/soak-package.sh that installs and runs the packages: $1 is its
# folder, with a Debian in tree and both versions in packages. It boots that Debian, whose
# systemd runs the service, with a network of its own (systemd-nspawn).
set -euo pipefail
work=$1 tree=$1/tree

fail() {
	echo "$*" >&2
	inside journalctl --unit millrace --lines 20 --no-pager >&2 || true
	exit 1
}
say() { printf '== %s\n' "$*"; }

# inside runs a command in the booted Debian as root, whatever is set here. Where it is to
# be stopped, enter is: it stays in the list of processes of this machine.
enter=(nsenter --mount --uts --ipc --net --root --wd)
inside() {
	nsenter --target "$leader" --mount --uts --ipc --net --pid --cgroup --root --wd env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@" </dev/null
}
property() { inside systemctl show millrace --property "$1" --value; }

nspawn='' leader=''
boot() {
	local state=''
	systemd-nspawn --quiet --register=no --keep-unit --private-network --console=pipe --directory="$tree" \
		--bind-ro="$work/packages:/packages" --boot </dev/null >>"$work/console.log" 2>&1 &
	nspawn=$!
	for _ in {1..240}; do
		read -r leader _ <"/proc/$nspawn/task/$nspawn/children" || true
		[[ -z $leader ]] || state=$(inside systemctl is-system-running --wait 2>/dev/null) || true
		if [[ $state == running || $state == degraded ]]; then return; fi
		sleep 0.5
	done
	tail -n 20 "$work/console.log" >&2
	echo 'systemd has not started within two minutes' >&2
	exit 1
}

clients=()
cleanup() {
	[[ ${#clients[@]} -eq 0 ]] || kill "${clients[@]}" 2>/dev/null || true
	[[ -z $leader ]] || kill -KILL "$leader" 2>/dev/null || true # and all in its list of processes
	wait
}
trap cleanup EXIT

# files lists what is in the tree, but for the journals of dpkg, of useradd and of systemd.
files() {
	(
		cd "$tree"
		find . -xdev \( -path ./tmp -o -path ./run -o -path ./proc -o -path ./var/tmp -o -path './var/lib/dpkg/status*' -o -path ./var/log/dpkg.log \
			-o -path './etc/passwd-' -o -path './etc/group-' -o -path './etc/shadow-' -o -path './etc/gshadow-' -o -path ./etc/.pwd.lock \
			-o -path './var/lib/dpkg/triggers/Lock' -o -path './var/lib/dpkg/lock*' -o -path ./var/log/journal -o -path ./var/lib/systemd/timers \
			-o -path ./var/lib/systemd/random-seed -o -path ./var/log/wtmp \) -prune -o -printf '%p %y %m %U:%G %l\n'
		find etc usr/bin usr/lib -xdev -type f ! -name '*-' -exec sha256sum {} +
	) | sort
}

# The edge is active before it has its first certificate, so this tries for some time.
ca=/var/lib/millrace/caddy/pki/authorities/local/root.crt
over_tls() { inside curl --silent --show-error --fail --retry 60 --retry-delay 1 --retry-all-errors --cacert "$ca" "$@" 2>"$work/curl.log"; }
ping_tls() { over_tls --output /dev/null https://localhost:8443/ping || fail "no ping over TLS: $(tail -n 3 "$work/curl.log")"; }
is_active() { [[ $(inside systemctl is-active millrace) == active ]] || fail "the service is not active: $1"; }

boot
[[ ! -e $tree/usr/bin/go && ! -e $tree/usr/local/go ]] || fail 'there is Go in the tree'
first=$(cd "$work/packages" && ls ./*.deb | grep -v test)
second=$(cd "$work/packages" && ls ./*test*.deb)
failed() { inside systemctl list-units --failed --plain --no-legend; }
failed >"$work/failed"

say "install $first"
files >"$work/before"
inside dpkg --install "/packages/$first" || fail 'dpkg --install failed'
inside dpkg --verify millrace
[[ $(inside dpkg-query -W -f '${Conffiles}' millrace) == *' /etc/millrace/Caddyfile '* ]] || fail 'the Caddyfile is no conffile'
[[ $(stat -c %a "$tree/var/lib/millrace") == 750 ]] || fail 'the mode of /var/lib/millrace'
inside bash -c 'bash -n /usr/share/bash-completion/completions/millrace && cd /usr/share/man/man8 && gzip -t millrace*.gz && ls millrace-pubsub-publish.8.gz' >/dev/null
grep -q '^#compdef millrace' "$tree/usr/share/zsh/vendor-completions/_millrace"
[[ -s $tree/usr/share/fish/vendor_completions.d/millrace.fish ]]

say 'the service as installed: enabled, started, and confined'
[[ $(inside systemctl is-enabled millrace) == enabled ]] || fail 'the service is not enabled'
is_active 'after the installation'
status=$(inside cat "/proc/$(property MainPID)/status" "/proc/$(property MainPID)/limits")
for line in 'CapEff:	0000000000000400' 'CapBnd:	0000000000000400' 'NoNewPrivs:	1' 'Seccomp:	2' 'Umask:	0077'; do
	grep -qx "$line" <<<"$status" || fail "not $line in the status of the edge: $status"
done
! grep -q '^Uid:	0' <<<"$status" || fail 'the edge is root'
nofile=$(ulimit -H -n) # more than this machine allows is not to be had
[[ $nofile != unlimited ]] || nofile=1073741816
limit=$(sed -n "s/^LimitNOFILE=//p" "$tree/lib/systemd/system/millrace.service")
nofile=$((nofile < limit ? nofile : limit))
grep -q "^Max open files *$nofile *$nofile " <<<"$status" || fail "not $nofile open files: $status"
exposure=$(sed -n 's/.*`systemd-analyze security millrace` says \([0-9.]*\) of 10.*/\1/p' docs/install.md)
inside systemd-analyze security --threshold "${exposure/./}" millrace --no-pager >"$work/security" || fail "docs/install.md says $exposure: $(tail -n 1 "$work/security")"

# What its user may do elsewhere, and not in the sandbox of the service: a command a line.
mkdir -m 0777 "$tree/srv/open" "$tree/home/open"
inside touch /tmp/marker /dev/marker
cat >"$work/packages/commands" <<'COMMANDS'
touch /srv/open/file
test -d /home/open
test -e /tmp/marker
test -e /dev/marker
test -e /proc/1/status
unshare --user true
chmod u+s /var/lib/millrace/own
renice -n 5 -p $$
perl -e 'socket(my $s, 16, 3, 0) && socket($s, 40, 1, 0) or exit 1'
COMMANDS
cat >"$work/packages/probe" <<'PROBE'
#!/bin/sh
# $1: what each command must come to
touch /var/lib/millrace/own /var/log/millrace/own /run/millrace/own || exit 1
while IFS= read -r command; do
	sh -c "$command" 2>/dev/null >&2 && came=allowed || came=refused
	[ "$came" = "$1" ] || { echo "probe: $came: $command"; exit 1; }
done </packages/commands
rm -f /var/lib/millrace/own /var/log/millrace/own /run/millrace/own
echo "probe: all $1"
PROBE
chmod 0755 "$work/packages/probe"
inside setpriv --reuid millrace --regid millrace --init-groups /packages/probe allowed || fail 'the probe of the sandbox is void'
mkdir -p "$tree/etc/systemd/system/millrace.service.d"
printf '[Service]\nExecStartPre=/packages/probe refused\n' >"$tree/etc/systemd/system/millrace.service.d/override.conf"
inside systemctl daemon-reload
inside systemctl restart millrace || fail 'the sandbox allows what it should not'
inside journalctl --unit millrace --output cat | grep 'probe: all refused' || fail 'the probe has not run'
rm -r "$tree/srv/open" "$tree/home/open" "$tree/etc/systemd/system/millrace.service.d"
inside systemctl daemon-reload

over_tls --output /dev/null http://localhost:8080/ping
ping_tls
[[ $(over_tls https://localhost:8443/ready) == ready* ]] || fail 'not ready'
public=$(inside ss -Hltun | awk '{ print $5 }' | grep -v '^127\.' || true)
[[ -z $public ]] || fail "it listens on $public"
inside millrace pubsub master-token create --name soak --tenant-prefix demo --quiet >"$work/master"
if inside setpriv --reuid nobody --clear-groups millrace pubsub connections >/dev/null 2>&1; then
	fail 'everybody may administer the edge'
fi

say 'as configured: TLS on port 443, and a history; after a start of the machine'
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
inside systemctl poweroff
wait "$nspawn" || fail "the machine ended with exit code $?"
leader=''
boot
is_active 'after a start of the machine'
inside cp "$ca" /run/ca.crt # for clients, who may not read the edge's data
inside chmod 0644 /run/ca.crt

# issue prints an access token, issued with the master token of the file $1.
issue() {
	over_tls https://127.0.0.1/v1/get-token \
		-H "Authorization: Bearer $(sed 's/^MILLRACE_MASTER_TOKEN=//' "$1")" -H 'Content-Type: application/json' \
		-d '{"created_by":"soak","right":{"expires_in":3600,"egress_kb_per_sec":1024,"tenant_grants":[
			{"tenant_ids":["room"],"allow_channels_pub":["news.#"],"allow_channels_sub":["news.#"],"allow_channels_history":["news.#"]}]}}' |
		sed 's/.*"token":"\([^"]*\)".*/\1/'
}
token=$(issue "$tree/etc/millrace/environment")
issue "$work/master" >/dev/null # the one that was made before is in the store
become_client() { # of a user who owns nothing
	exec "${enter[@]}" --target "$leader" env -i setpriv --reuid nobody --regid nogroup --clear-groups \
		env MILLRACE_TOKEN="$token" PATH=/usr/bin:/bin HOME=/nonexistent \
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
arrived_more() { arrived "^news\\.a number $(($(grep -c '^news\.a ' "$received") + 10))\$"; }
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

say 'reload: the same process; a Caddyfile that is wrong changes nothing, and says so'
edge=$(property MainPID)
cp "$tree/etc/millrace/Caddyfile" "$work/Caddyfile"
inside systemctl reload millrace || fail 'the reload failed'
sed -i 's/drain 7s/drain 1s/' "$tree/etc/millrace/Caddyfile"
if inside systemctl reload millrace 2>/dev/null; then fail 'a Caddyfile that is wrong was loaded'; fi
inside journalctl --unit millrace --output cat | grep 'drain: must be' || fail 'the journal does not say what is wrong'
cp "$work/Caddyfile" "$tree/etc/millrace/Caddyfile"
is_active 'after a reload that failed'
[[ $(property MainPID) == "$edge" ]] || fail 'a reload has started another process'
arrived_more

say 'a crash: systemd starts the edge again'
inside systemctl kill --signal KILL millrace
arrived_more
[[ $(property NRestarts) == 1 && $(property MainPID) != "$edge" ]] || fail "$(property NRestarts) starts after a crash"

say "upgrade to $second"
cp "$tree/usr/bin/millrace" "$work/millrace"
inside dpkg --install "/packages/$second" || fail 'the upgrade failed'
cmp "$work/Caddyfile" "$tree/etc/millrace/Caddyfile" || fail 'the upgrade changed the Caddyfile'
cmp -s "$work/millrace" "$tree/usr/bin/millrace" && fail 'the second build is the first'
[[ $(inside dpkg-query -W -f '${Version}' millrace) == 0.1.1~test ]] || fail 'another version'
is_active 'after the upgrade'
inside cmp "/proc/$(property MainPID)/exe" /usr/bin/millrace || fail 'another program runs'
say "$(wc -l <"$received") messages before the restart"
arrived_more

say 'stop and start'
begin=$SECONDS
inside systemctl stop millrace
[[ $(property Result) == success ]] || fail "the stop: $(property Result)"
say "stopped after $((SECONDS - begin)) s"
inside systemctl start millrace
arrived_more
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
if inside journalctl --unit millrace --output cat | grep -E '[AM]T_[0-9a-f]{8}'; then fail 'there are tokens in the journal'; fi

say 'remove keeps configuration and data'
inside dpkg --remove millrace || fail 'the removal failed'
[[ $(inside systemctl is-active millrace) == inactive && ! -e $tree/usr/bin/millrace ]] || fail 'the edge goes on after its removal'
cmp "$work/Caddyfile" "$tree/etc/millrace/Caddyfile"
inside dpkg --install "/packages/$second" || fail 'the second installation failed'
is_active 'after the second installation'
client publish --url wss://127.0.0.1/ws --confirm news.back 'with the token of before' >/dev/null || fail 'the tokens are gone'

say purge
inside dpkg --purge millrace || fail 'the purge failed'
files >"$work/after"
diff "$work/before" "$work/after" || fail 'the purge left the lines above'
say "the same $(wc -l <"$work/before") lines about files as before"
! inside systemctl cat millrace >/dev/null 2>&1 || fail 'systemd still has the service'
diff "$work/failed" <(failed) || fail 'services have failed'

say "docs/install.md: Debian, as a user with sudo"
inside useradd --create-home --shell /bin/bash visitor
echo 'visitor ALL=(ALL) NOPASSWD: ALL' >"$tree/etc/sudoers.d/visitor"
echo "127.0.0.1 localhost $(inside hostname)" >"$tree/etc/hosts" # sudo looks for the machine
cp "$work"/packages/millrace[_-]* "$tree/home/visitor/"

# documented prints the commands of a section of docs/install.md.
documented() {
	scripts/install-commands.sh "$1" | if [[ $(dpkg --print-architecture) == arm64 ]]; then sed 's/amd64/arm64/g; s/x86_64/aarch64/g'; else cat; fi
}
# This user runs commands; sudoedit has an editor that adds a line.
visitor_is=(env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/visitor LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive 'SUDO_EDITOR=sed -i $a#changed'
	setpriv --reuid visitor --regid visitor --init-groups env -C /home/visitor bash -exc)
# visit runs a section.
visit() {
	local commands command
	commands=$(documented "$1")
	while IFS= read -r command; do
		say "  $command"
		inside "${visitor_is[@]}" "$command" >"$work/visitor.log" 2>&1 || fail "docs/install.md: $command: $(tail -n 20 "$work/visitor.log")"
	done <<<"$commands"
}

visit 'Debian and Ubuntu'
visit 'What the packages install'
grep -q '^#changed' "$tree/etc/millrace/Caddyfile" || fail 'sudoedit has changed nothing'
inside dpkg --purge millrace

say RPM
rpms() { inside rpm --force-debian --nodeps "$@"; } # to this rpm, what Debian installed is not there
first=$(cd "$work/packages" && ls ./*.rpm | grep -v test)
second=$(cd "$work/packages" && ls ./*test*.rpm)
rpms --install "/packages/$first"
rpms --verify millrace
visit 'Fedora, RHEL and others with RPM'
ping_tls
edge=$(property MainPID)
rpms --upgrade "/packages/$second"
is_active 'after the upgrade'
[[ $(property MainPID) != "$edge" ]] || fail 'the upgrade has not restarted the edge'
grep -q '^#changed' "$tree/etc/millrace/Caddyfile" || fail 'the upgrade changed the Caddyfile'
rpms --erase millrace
[[ $(inside systemctl is-active millrace) != active && ! -e $tree/usr/bin/millrace && -d $tree/var/lib/millrace/caddy && -e $tree/etc/millrace/Caddyfile.rpmsave ]] || fail 'the erasure of the RPM'

say 'docs/install.md: the program'
program=$(documented 'The program')
"${enter[@]}" --target "$leader" "${visitor_is[@]}" "${program/%millrace pubsub dev/exec millrace pubsub dev}" </dev/null >"$work/dev.log" 2>&1 &
clients=($!)
printed "$work/dev.log" 'Ctrl+C stops the edge.'
inside curl --silent --show-error --fail --output /dev/null http://localhost:8080/ping
kill -TERM "${clients[0]}" && wait "${clients[0]}" || fail "millrace pubsub dev failed: $(tail -n 5 "$work/dev.log")"
clients=()
grep -q '\.tar\.gz: OK$' "$work/dev.log" || fail "sha256sum has not checked the archive"
inside systemctl poweroff
wait "$nspawn" || fail "the machine ended with exit code $?"
leader=''
say 'all is well'
