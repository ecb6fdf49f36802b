# shellcheck shell=bash
# What scripts/test.sh and scripts/check.sh share: they run steps, some beside others, and
# then print what failed, the slowest tests, and where the time went.
#
# MILLRACE_TEST_RESULTS names a folder that keeps the results, in a folder test or check: of
# each step its output, and the results of its tests in a file .jsonl, which
# internal/testreport reads.

# With -trimpath, compiled packages do not record where the checkout is: another checkout,
# in another folder, takes them from the cache.
export GOFLAGS="${GOFLAGS:-} -trimpath"

# Programs that tests of several packages run are built once; see internal/programs.
export MILLRACE_TEST_PROGRAMS=$PWD/dist/test

report=dist/tools/testreport
temporary=
[[ -n ${MILLRACE_TEST_RESULTS:-} ]] || temporary=$(mktemp -d)
results=${temporary:-$MILLRACE_TEST_RESULTS}/$(basename "$0" .sh)
rm -rf "$results"
mkdir -p "$results"
results=$(cd "$results" && pwd)

lanes=()        # process IDs
exec {shown}>&1 # where steps show their output while they run
beside=         # this is a lane
stop() {
	local lane
	for lane in "${lanes[@]}"; do kill -TERM -- "-$lane" 2>/dev/null || true; done
	[[ -z $temporary ]] || rm -rf "$temporary"
}
trap stop EXIT
trap 'exit 130' INT TERM

# step runs a command, or a function, as a step. A failure is for finish.
step() { # name, command...
	local name=$1 file=$results/${1//[^A-Za-z0-9]/-} status=0 TIMEFORMAT='%R %U %S' wall user system
	shift
	printf '\n== %s\n' "$name"
	export MILLRACE_RESULTS=$file.jsonl
	{ time { "$@" 2>&1 | tee "$file.log" >&"$shown"; }; } 2>"$file.time" || status=$?
	read -r wall user system < <(tail -n 1 "$file.time")
	printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$wall" "$user" "$system" "$status" >>"$results/steps"
	rm "$file.time"
	if [[ $status -ne 0 ]]; then
		printf '%s failed: see the end\n' "$name"
	elif [[ -n $beside ]]; then
		cat "$file.log"
	fi
}

# lane runs a function beside what follows. join shows its output, when it has ended. It is a
# process group of its own (set -m), so that stop can end all of it.
lane() { # function
	set -m
	{ exec {shown}>/dev/null && beside=1 && "$1"; } >"$results/$1.lane" 2>&1 </dev/null &
	lanes+=($!)
	set +m
}
join() { # functions, in the order in which they were started
	local lane
	for lane in "$@"; do
		wait "${lanes[0]}" || true
		lanes=("${lanes[@]:1}")
		cat "$results/$lane.lane"
	done
}

# gotest prints what go test prints without -json. The timeout is per package, and is for
# tests that hang. The linter has all that -vet would find.
gotest() { # flags and packages
	go test -json -vet=off -timeout 20m "$@" 2>&1 | "$report" go "$MILLRACE_RESULTS"
}
build_report() { go build -o "$report" ./internal/testreport; }

# unless_unchanged leaves out a command that has passed with the same files, as go test does,
# and runs it in any case with GOFLAGS=-count=1.
unless_unchanged() { # files and folders, --, command...
	local inputs=() sum passed
	while [[ $1 != -- ]]; do
		inputs+=("$1")
		shift
	done
	shift
	passed=dist/passed/${*//[^A-Za-z0-9]/-}
	sum=$({ node --version; python3 --version
		git ls-files -z --cached --others --exclude-standard -- "${inputs[@]}" | xargs -0 sha256sum; } 2>&1 | sha256sum)
	if [[ $GOFLAGS != *-count=1* && -f $passed && $(<"$passed") == "$sum" ]]; then
		echo 'ok (cached)'
		return
	fi
	"$@" || return
	mkdir -p dist/passed
	printf '%s\n' "$sum" >"$passed"
}

finish() { # what took the time
	local failed=() name wall user system status
	printf '\n'
	"$report" slowest "$results" || true
	printf '\n%9s %9s  step\n' 'wall, s' 'CPU, s'
	while IFS=$'\t' read -r name wall user system status; do
		awk -v "w=$wall" -v "u=$user" -v "s=$system" 'BEGIN { printf "%9.1f %9.1f", w, u + s }'
		printf '  %s\n' "$name"
		[[ $status -eq 0 ]] || failed+=("$name")
	done <"$results/steps"
	for name in "${failed[@]}"; do
		printf '\n== failed: %s\n' "$name"
		cat "$results/${name//[^A-Za-z0-9]/-}.log"
	done
	if [[ ${#failed[@]} -gt 0 ]]; then
		printf '\nfailed:\n'
		printf '  %s\n' "${failed[@]}"
	fi
	printf '\n%s took %d min %d s\n' "$1" $((SECONDS / 60)) $((SECONDS % 60))
	[[ ${#failed[@]} -eq 0 ]]
}
