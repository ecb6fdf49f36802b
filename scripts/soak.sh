#!/usr/bin/env bash
# Runs the soaks, which are too long for `make check`, one after the other:
#
#   scripts/soak.sh             all of them
#   scripts/soak.sh NAME...     the named ones
#   scripts/soak.sh list        lists them
#
# docs/decisions/0042-what-soaks-found.md says what they found. Most have a short
# form in `make check`.
#
# A soak is a function soak_NAME; list shows the comment above it.
set -euo pipefail
cd "$(dirname "$0")/.."

# MILLRACE_SOAK tells tests to run at full length.
# It runs the tests of a package below integration.
integration() { # package, flags of go test
	MILLRACE_SOAK=1 go test -v -count=1 -timeout 24h "${@:2}" "./integration/$1"
}

## the sessions' conformance suite over each transport, on one edge and over two
soak_sessions() {
	integration conformance -run 'TestConformance$'
	integration cluster -run 'TestConformanceOverEdges$'
}

## edges that drain, and edges that die, 20 times each below a client of each SDK; and all scenarios of the SDKs, over all transports, in the browsers, in Deno and Bun, and of the minimal client
soak_sdks() {
	scripts/install-test-deps.sh
	integration sdks -count="${MILLRACE_ROUNDS:-20}" -run 'TestSDKs(InBrowsers)?$/^(drain_by_SIGTERM|kill)$'
	integration sdks -run 'TestSDK|TestMinimalClient'
}

## 200 components of @millrace/react that come and go in Chromium, with React 18 and 19: nothing lost, twice or left behind
soak_react() {
	scripts/install-test-deps.sh
	integration sdks -run 'TestReact$'
}

## paths that break, and kills, ten times each below a client of each SDK, over all transports and in the browsers
soak_suspicions() {
	scripts/install-test-deps.sh
	integration sdks -count="${MILLRACE_ROUNDS:-10}" -run 'TestSDKs(InBrowsers)?$/^(a_path_that|UDP_dies|kill)'
}

## @millrace/client in bundles of esbuild and webpack, on Node 20 and 26, in an app of React Native by Metro, in Chromium 88, with the hooks in tests of Jest and Vitest, and with the edge of @millrace/testing there
soak_bundles() {
	scripts/npm.sh sdk/js build
	scripts/npm.sh sdk/react build
	go build -trimpath -o dist/test/ ./cmd/millrace
	MILLRACE_TEST_PROGRAMS=$PWD/dist/test npm --prefix sdk/js run --silent bundles
}

## what two edges deliver over both transports, against an oracle: 10 million times
soak_oracle() {
	integration cluster -run 'TestOracle$'
}

# MILLRACE_PYTHONS names the programs of others than those of $PATH and pyenv.
## the tests of the SDK for Python on each Python from 3.10 on that is installed, on the event loop of asyncio and on uvloop
soak_python() {
	# shellcheck disable=SC2086
	scripts/sdk-python.sh matrix ${MILLRACE_PYTHONS:-}
}

## the notebook of the examples, in a real kernel
soak_notebook() {
	scripts/install-test-deps.sh
	python3 -m venv .cache/notebook
	.cache/notebook/bin/pip install --quiet ./sdk/python nbclient==0.11.0 ipykernel==7.4.0 matplotlib==3.11.2
	MILLRACE_JUPYTER=$PWD/.cache/notebook/bin/jupyter integration programs -run 'TestExamples$/^notebook$'
}

## a hostile crowd that does not authenticate, 10 minutes
soak_crowd() {
	integration load -run 'TestHostileCrowd$'
}

## 100 reloads below 10,000 connections with traffic
soak_reloads() {
	integration load -run 'TestReloadsUnderLoad$'
}

## three edges with NATS inside that are killed, frozen, cut off, slow, out of disk, wrong by an hour or stopped, ten times each; and three beside NATS, one cut off, or without its server
soak_faults() {
	MILLRACE_SOAK_COUNT=${MILLRACE_ROUNDS:-} integration cluster -run 'TestFaults$'
}

## the same faults in pairs, the second one while the edges recover from the first
soak_pairs() {
	MILLRACE_ROUNDS=${MILLRACE_PAIRS:-3} MILLRACE_PAIRS=yes soak_faults
}

## 10,000 clients whose edge is killed, over TLS, and another edge
soak_storm() {
	integration load -run 'TestStorms/killed'
}

## three edges that are replaced by those of another version, one after the other, below 1,000 clients with a history and without
soak_upgrade() {
	scripts/install-test-deps.sh
	integration cluster -run 'TestRollingUpgrade$'
}

# MILLRACE_KINDS and MILLRACE_CASES are regular expressions, as go test -run has them. Two at a time are played.
## what clients of each SDK see when their network breaks, compared with the marks (docs/networks.md)
soak_networks() {
	scripts/install-test-deps.sh
	integration networks -count="${MILLRACE_ROUNDS:-20}" -parallel 2 -run "TestNetworks/${MILLRACE_KINDS:-.*/.*}/^(${MILLRACE_CASES:-.*})$"
	integration networks -run 'TestTunnel$|TestSilentNameServer$|TestAddresses$'
}

## how late messages come, and how long they stay away, with loss and distance, by transport
soak_latency_under_loss() {
	MILLRACE_SOAK_COUNT=${MILLRACE_SECONDS:-60} integration networks -run 'TestLatencyUnderLoss$'
}

# Of each kind MILLRACE_ROUNDS runs of MILLRACE_RUN, such as 10s; by default 100 runs of 15 s
# in memory, with reloads, on disk and in NATS inside the edge, with kills, and of 60 s over edges,
# also with NATS inside them and partitions. MILLRACE_KINDS is a regular expression of kinds: Memory,
# OfKilledEdges, Embedded, OverEdges, Joined, Restored. A failed run says its MILLRACE_SEED, which repeats what is drawn, but not when it happens.
## random publishers and subscribers of a history over both transports, 100 runs: nothing is lost without a word
soak_histories() {
	MILLRACE_SOAK_COUNT=${MILLRACE_ROUNDS:-100} MILLRACE_SOAK_TIME=${MILLRACE_RUN:-} \
		integration histories -run "TestHistories/^(${MILLRACE_KINDS:-Memory|OfKilledEdges|Embedded|OverEdges|Joined|Restored})$" -parallel "${MILLRACE_PARALLEL:-2}"
	MILLRACE_SOAK=1 go test -v -count=1 -timeout 6h -run 'Test(Kill|PurgeErases)$' ./pubsub/history/badger
	MILLRACE_SOAK=1 go test -race -v -count=1 -timeout 6h -run 'TestHistoriesSeam$' ./pubsub
}

# MILLRACE_ROUNDS rounds, by default 100. A failed run says its MILLRACE_SEED, which repeats what
# is drawn, but not when it happens.
## clients that join, leave, go and come back at three edges that are killed, frozen and cut off: after each of 100 rounds all who watch see exactly who is there
soak_presence() {
	MILLRACE_SOAK_COUNT=${MILLRACE_ROUNDS:-100} integration presence -run 'TestPresenceSoak$'
}

## 2,000 clients that suspect a frozen edge at once, and another edge
soak_suspicion_storm() {
	integration load -run 'TestStorms/frozen'
}

## each screen of the console in every width and scheme
soak_console() {
	scripts/install-test-deps.sh
	integration console -run 'TestConsoleScreens$'
}

## a process that writes tokens, killed 1,000 times, and one whose disk is full 20 times
soak_kills() {
	MILLRACE_SOAK=1 go test -v -count=1 -timeout 6h -run 'Test(Kill|FullDisk)$' ./tokenstore/badger
}

## 80 renewals of a certificate below open sessions, which outlive the one that they began with
soak_certificates() {
	integration operations -run 'TestCertificateRenewal$'
}

# MILLRACE_SOAK_TIME is how long, by default 12h, and MILLRACE_SECONDS the time from a reload to the next.
## a reload a minute over HTTPS for 12 hours, below sessions that each began under another configuration: resident memory flat within 3 %
soak_configurations() {
	MILLRACE_SOAK_COUNT=${MILLRACE_SECONDS:-60} integration load -run 'TestSessionsOutliveConfigurations$'
}

## an hour of clients, tokens and reloads: what the edge holds does not grow
soak_hour() {
	integration load -run 'TestSoak$'
}

## every fuzz target, 20 minutes each
soak_fuzz() {
	FUZZTIME=${FUZZTIME:-20m} scripts/fuzz.sh
}

## RFC 6455, with the Autobahn test suite
soak_rfc6455() {
	scripts/soak-rfc6455.sh
}

## the REST API against its OpenAPI document, 5 minutes
soak_schemathesis() {
	SOAK=${SOAK:-300} scripts/soak-schemathesis.sh
}

## the packages in a fresh Debian under systemd: its sandbox, reloads, a crash, an upgrade below clients, a purge; docs/install.md there
soak_package() {
	scripts/soak-package.sh
}

## all targets of a release, two builds of one of them with the same bytes, and a build from source, as docs/install.md says
soak_release() {
	local commands command
	commands=$(scripts/install-commands.sh 'Make a release')
	while IFS= read -r command; do
		printf '== %s\n' "$command"
		bash -c "$command" </dev/null
	done <<<"$commands"
	integration programs -run 'TestInstallCommands$'
}

## the container image, built by Podman and run with runc: the commands of docs/containers.md, its user, its health check, and clients over TLS
soak_container() {
	scripts/soak-container.sh
}

## the Helm chart: lint, what it makes as types of Kubernetes, and three processes with its Caddyfile
soak_chart() {
	scripts/chart.sh -v -count=1
}

# Debian has promtool, whose package is unpacked and not installed, since that starts a Prometheus.
## the alerts by promtool: their syntax, and some that are due beside some that are not
soak_alerts() {
	local promtool
	if ! promtool=$(command -v promtool); then
		promtool=$PWD/.cache/prometheus/usr/bin/promtool
		mkdir -p .cache/prometheus
		[[ -x $promtool ]] || (cd .cache/prometheus && apt-get download prometheus && dpkg -x prometheus_*.deb .)
	fi
	"$promtool" check rules deploy/chart/millrace/files/millrace.rules.yaml
	"$promtool" test rules deploy/charttest/testdata/rules.test.yaml
}

## the Helm chart in a Kubernetes built here: installed, restarted, scaled, given other limits, and with nodes that lose their power, below clients
soak_kubernetes() {
	scripts/soak-kubernetes.sh
}

## make dev and make test in a fresh Debian, as a normal user: what a newcomer waits for
soak_fresh() {
	scripts/fresh-debian.sh
}

## a million sessions, simulated in one hub
soak_million() {
	scripts/soak-million.sh
}

names() { sed -n 's/^soak_\([a-z0-9_]*\)() {$/\1/p' "$0"; }

list() {
	awk '/^## / { what = substr($0, 4) }
		/^soak_[a-z0-9_]*\(\) {$/ { sub(/^soak_/, ""); sub(/\(.*/, ""); printf "  %-20s %s\n", $0, what }' "$0"
}

if [[ ${1:-} == list ]]; then
	list
	exit
fi
names=("$@")
[[ $# -gt 0 ]] || mapfile -t names < <(names)
for name in "${names[@]}"; do
	if ! declare -F "soak_$name" >/dev/null; then
		printf 'there is no soak %s; the soaks are\n%s\n' "$name" "$(list)" >&2
		exit 2
	fi
done

failed=()
for name in "${names[@]}"; do
	printf '\n== soak %s\n' "$name"
	begin=$SECONDS
	set +e # a condition would not do: in one, the soak itself would go on after a failure
	(
		set -e
		"soak_$name"
	)
	[[ $? -eq 0 ]] || failed+=("$name")
	set -e
	printf '== soak %s took %d min %d s\n' "$name" $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60))
done
if [[ ${#failed[@]} -gt 0 ]]; then
	printf '\nfailed: %s\n' "${failed[*]}" >&2
	exit 1
fi
