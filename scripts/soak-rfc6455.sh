#!/usr/bin/env bash
# Runs the Autobahn test suite (RFC 6455: sections 1 to 7, 9 and 10) against the
# edge's WebSocket transport, plain and over TLS, and the Go SDK against its fuzzing
# server. Needs Python 2.7, the last version that the suite runs on, with pip; PYTHON2
# names it. Installs the suite below $AUTOBAHN_HOME (default: .autobahn in this folder's
# parent). AUTOBAHN_CASES=6.* runs one section. Takes two minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."

home=${AUTOBAHN_HOME:-$PWD/.autobahn}
suite=25.10.1

python=${PYTHON2:-}
if [[ -z $python ]]; then
	for candidate in python2.7 python2 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/2.7.*/bin/python; do
		if "$candidate" -m pip --version >/dev/null 2>&1; then
			python=$candidate
			break
		fi
	done
fi
if [[ -z $python ]]; then
	echo "$0: found no Python 2.7 with pip; set PYTHON2. Without it, TestRFC6455 of pubsub/websocket runs the cases in short." >&2
	exit 2
fi

if [[ ! -x $home/$suite/wstest ]]; then
	rm -rf "${home:?}/$suite"
	"$python" -W ignore -m pip install --quiet --disable-pip-version-check --target "$home/$suite/site" "autobahntestsuite==$suite"
	cat >"$home/$suite/wstest" <<EOF
#!/bin/sh
exec "$python" -W ignore -c 'import site, sys; site.addsitedir("$home/$suite/site"); sys.argv[0] = "wstest"; from autobahntestsuite.wstest import run; sys.exit(run())' "\$@"
EOF
	chmod +x "$home/$suite/wstest"
fi

export WSTEST=$home/$suite/wstest
go test -count=1 -tags autobahn -timeout 2h -run '^TestAutobahn$' -v ./pubsub/websocket ./client
