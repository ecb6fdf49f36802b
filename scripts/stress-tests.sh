#!/usr/bin/env bash
# Runs a command of tests many times, under load, and prints what came of each test: runs,
# failures, and the times that half and 99 % of the runs did not exceed.
#
#   scripts/stress-tests.sh [-n N] [--busy K] [--one-core] [--results DIR] [--] COMMAND...
#
#   -n N            how many runs; default 10
#   --busy K        beside K loops that only compute
#   --one-core      all of it on one core
#   --results DIR   where results are kept, and output of runs that failed; a folder that has
#                   some gets more, and the table is of all. Default: dist/stress/<time>
#
# COMMAND is go test with its arguments, or one that keeps its results as scripts/test.sh
# does, such as make test. Nothing comes from the cache of results. Exit status 1: a run has
# failed. Examples:
#
#   scripts/stress-tests.sh -n 200 --busy 4 -- go test ./pubsub/...
#   scripts/stress-tests.sh -n 15 --results dist/stress/test -- make test
set -euo pipefail

usage() {
	sed -n '/^# Runs/,/^set/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}
runs=10 busy=0 results='' pinned=() load=()
while [[ $# -gt 0 ]]; do
	case $1 in
	-n | --busy | --results)
		[[ $# -ge 2 ]] || usage
		case $1 in
		-n) runs=$2 ;;
		--busy) busy=$2 ;;
		*) results=$(realpath -m "$2") ;;
		esac
		shift
		;;
	--one-core) pinned=(taskset -c) ;;
	--)
		shift
		break
		;;
	-*) usage ;;
	*) break ;;
	esac
	shift
done
[[ $# -gt 0 && $runs =~ ^[0-9]+$ && $busy =~ ^[0-9]+$ ]] || usage
cd "$(dirname "$0")/.."

results=${results:-$PWD/dist/stress/$(date +%Y%m%d-%H%M%S)}
mkdir -p "$results" dist/tools
export GOFLAGS="${GOFLAGS:-} -trimpath"
report=$PWD/dist/tools/testreport
go build -o "$report" ./internal/testreport
commit=$(git rev-parse --short HEAD)
[[ -z $(git status --porcelain) ]] || commit+=' and changes'

if [[ ${#pinned[@]} -gt 0 ]]; then
	cores=$(taskset -cp $$) # pid 1's current affinity list: 0,1
	cores=${cores##* }
	pinned+=("${cores%%[,-]*}")
	load+=('one core')
fi
[[ $busy -eq 0 ]] || load+=("$busy busy loops")
[[ ${#load[@]} -gt 0 ]] || load=(alone)
loads=$(IFS=, && printf '%s' "${load[*]}")

# stop ends what runs, also when this script is stopped. A run is a process group of its own
# (set -m).
loops=() current=
stop() {
	[[ ${#loops[@]} -eq 0 ]] || kill "${loops[@]}" 2>/dev/null || true
	[[ -z $current ]] || kill -TERM -- "-$current" 2>/dev/null || true
}
trap stop EXIT
trap 'exit 130' INT TERM
for ((i = 0; i < busy; i++)); do
	(while :; do :; done) &
	loops+=($!)
done

once() { # folder, command...
	local folder=$1
	shift
	if [[ $1 == go && ${2:-} == test ]]; then
		"${pinned[@]}" go test -json -count=1 "${@:3}" 2>&1 | "$report" go "$folder/go.jsonl"
	else
		GOFLAGS="$GOFLAGS -count=1" MILLRACE_TEST_RESULTS=$folder "${pinned[@]}" "$@" 2>&1
	fi
}
failed=0
for ((i = 1; i <= runs; i++)); do
	folder=$results/$(date +%Y%m%d-%H%M%S)-$i
	mkdir "$folder"
	begin=$EPOCHREALTIME status=0
	set -m
	once "$folder" "$@" >"$folder/output" </dev/null &
	current=$!
	set +m
	wait "$current" || status=$?
	current=
	seconds=$(awk -v "a=$begin" -v "b=$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }')
	printf '%s\n' "$*" "$loads" "$commit" "$seconds" "$status" >"$folder/run"
	if [[ $status -eq 0 ]]; then
		find "$folder" -type f ! -name '*.jsonl' ! -name run -delete
	else
		failed=$((failed + 1))
	fi
	printf '%d of %d: %s, %s s\n' "$i" "$runs" "$([[ $status -eq 0 ]] && echo ok || echo "failed, $folder/output")" "$seconds" >&2
done
"$report" table "$results" | tee "$results/table.md"
[[ $failed -eq 0 ]]
