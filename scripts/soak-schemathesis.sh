#!/usr/bin/env bash
# Tests the REST API of a real edge against its OpenAPI document: schemathesis makes
# requests that the document allows and requests that it forbids, and checks every
# answer. The script installs schemathesis into .cache/schemathesis. SOAK is the
# longest run in seconds (default 300), SEED repeats a run; further arguments go to
# schemathesis. The exit code is that of schemathesis: 0 without a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.cache/schemathesis
pins=scripts/schemathesis/requirements.txt
if ! cmp -s "$pins" "$venv/.installed-from"; then
	python3 -m venv --clear "$venv"
	"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$pins"
	cp "$pins" "$venv/.installed-from"
fi

work=$(mktemp -d)
edge=
trap '[[ -z $edge ]] || kill "$edge" 2>/dev/null && wait "$edge" 2>/dev/null; rm -rf "$work"' EXIT

go build -o "$work/millrace" ./cmd/millrace
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# The token goes to the edge and to schemathesis.toml only through the environment.
MILLRACE_MASTER_TOKEN=MT_$(head -c16 /dev/urandom | od -An -tx1 | tr -d ' \n')_$(head -c16 /dev/urandom | od -An -tx1 | tr -d ' \n')
export MILLRACE_MASTER_TOKEN XDG_DATA_HOME=$work
cat > "$work/Caddyfile" <<EDGE
{
	admin off
	persist_config off
	auto_https off
	default_bind 127.0.0.1
	pubsub {
		token_store badger $work/tokens
		master_token {env.MILLRACE_MASTER_TOKEN}
	}
}
http://127.0.0.1:$port {
	pubsub
	pubsub_openapi
	respond 404
}
EDGE
"$work/millrace" run --config "$work/Caddyfile" >"$work/edge.log" 2>&1 &
edge=$!
for ((i = 0; i < 300; i++)); do
	if curl --silent --fail --noproxy '*' --output /dev/null "http://127.0.0.1:$port/ping"; then break; fi
	if ! kill -0 "$edge" 2>/dev/null; then
		cat "$work/edge.log" >&2
		exit 1
	fi
	sleep 0.1
done

# Runs in the folder of this run, since it keeps a cache of what failed in .schemathesis.
code=0
root=$PWD
cd "$work"
SCHEMATHESIS_HOOKS=$root/scripts/schemathesis/hooks.py "$root/$venv/bin/schemathesis" --config-file "$root/scripts/schemathesis/schemathesis.toml" \
	run "http://127.0.0.1:$port/api-docs/openapi.json" --checks all --mode all --max-time "${SOAK:-300}" --no-color ${SEED:+--seed "$SEED"} "$@" || code=$?

if ! kill -0 "$edge" 2>/dev/null; then
	echo 'the edge died:' >&2
	cat "$work/edge.log" >&2
	exit 1
fi
if grep -E '"level":"(error|panic|fatal)"' "$work/edge.log"; then
	echo 'the edge logged the errors above' >&2
	code=1
fi
exit "$code"
