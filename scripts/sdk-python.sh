#!/usr/bin/env bash
# Builds millrace-client in sdk/python, a wheel and an sdist in sdk/python/dist, and checks
# it: format, lint, types, tests on asyncio's event loop, on uvloop, and with servers and
# workers (tests/hosts), the packages as they would be published, that the wheel
# works where it is installed, and its documentation. With the argument build it only
# builds; with test it only runs the types, also of examples and of docs/reference/python.md, and the tests on asyncio's loop; with check it
# does everything else. Needs Python 3.10 or newer with its module
# venv; installs what requirements-dev.txt names into sdk/python/.venv. If there is a
# Python 3.10, the oldest that the package is for, the wheel is tried there, too, with the
# oldest versions of what it depends on.
#
# With the argument matrix it runs the tests on both loops on each Python that is named
# behind it, or on each of $PATH and pyenv from 3.10 on: the soak python. On 3.10 it does so
# twice, also with the oldest versions of what the package depends on.
set -euo pipefail
cd "$(dirname "$0")/../sdk/python"

# venv makes a virtual environment with what a file of requirements names, unless it is
# there. The file is copied after a successful install; a changed pin makes it differ.
venv() { # python, folder, file
	local python=$1 folder=$2 file=$3
	if cmp -s "$file" "$folder/.installed-from" && "$folder/bin/python" -c '' 2>/dev/null; then
		return
	fi
	if ! "$python" -m venv --clear "$folder"; then
		echo "$python has no venv module: on Debian, apt-get install python3-venv" >&2
		exit 1
	fi
	"$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$file"
	cp "$file" "$folder/.installed-from"
}

# quiet shows the output of a command only if that fails.
quiet() {
	local output
	if ! output=$("$@" 2>&1); then
		printf '%s\n' "$output"
		return 1
	fi
}

build() {
	rm -rf dist
	# Without an environment of its own, which would be installed again each time.
	quiet .venv/bin/python -m build --no-isolation --outdir dist .
}

# installed tries the wheel with a Python, which has what the package depends on.
installed() { # python
	local folder
	folder=$(mktemp -d)
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-index --no-compile \
		--target "$folder" dist/*.whl
	for file in py.typed ../millrace_client-*.dist-info/licenses/LICENSE; do
		compgen -G "$folder/millrace/$file" >/dev/null || { echo "the wheel has no $file" >&2 && return 1; }
	done
	# From there, where sdk/python is not the current folder.
	(cd "$folder" && PYTHONPATH=$folder PYTHONDONTWRITEBYTECODE=1 "$1" -W error -c '
import importlib, millrace, pathlib, pkgutil
folder = pathlib.Path(millrace.__file__).parent
assert folder.parent == pathlib.Path.cwd(), folder
for module in pkgutil.iter_modules([str(folder)]):
    importlib.import_module(f"millrace.{module.name}")
')
	rm -rf "$folder"
}

# oldest prints the path of a Python 3.10, if there is one, also one of pyenv that is not active.
oldest() {
	local python
	for python in python3.10 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.10.*/bin/python3.10; do
		if "$python" -c 'import venv, ensurepip' 2>/dev/null; then
			command -v "$python"
			return
		fi
	done
}

case ${1:-} in
build | test | check | matrix | '') ;;
*)
	echo "usage: $0 [build | test | check | matrix [PYTHON...]]" >&2
	exit 2
	;;
esac

# tests writes the results of single tests to the file $MILLRACE_RESULTS, if there is one.
tests() { # flags of pytest
	local results plugin=() python=${python:-.venv/bin/python}
	[[ -z ${MILLRACE_RESULTS:-} ]] || plugin=(-p pytest_results)
	# More tests at a time than there are cores: they wait most of the time.
	if ! results=$(PYTHONPATH=src:../../scripts/testing PYTHONDONTWRITEBYTECODE=1 \
		"$python" -X dev -m pytest -n 6 "${plugin[@]}" "$@" 2>&1); then
		printf '%s\n' "$results"
		exit 1
	fi
	tail -n 1 <<<"$results"
}

# matrix runs the tests with each Python, on both loops.
matrix() { # pythons
	local version python folder seen=" "
	[[ $# -gt 0 ]] || set -- python3.{10..30} "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python
	for python in "$@"; do
		version=$("$python" -c 'import ensurepip, sys, venv; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
		[[ ${version#3.} -ge 10 && $seen != *" $version "* ]] || continue
		seen+="$version "
		venv "$python" ".venv-$version" requirements-dev.txt
		[[ $version != 3.10 ]] || venv "$python" .venv-oldest requirements-oldest.txt
		for folder in ".venv-$version" $([[ $version != 3.10 ]] || echo .venv-oldest); do
			python=$folder/bin/python
			printf '== %s, %s\n' "$("$python" --version)" "$("$python" -m pip list --disable-pip-version-check 2>/dev/null | awk '/^(aioquic|uvloop|websockets) / { printf "%s %s ", $1, $2 }')"
			tests --loop=asyncio
			tests --loop=uvloop
		done
	done
	[[ $seen != ' ' ]] || { echo 'found no Python from 3.10 on' >&2 && return 1; }
}
if [[ ${1:-} == matrix ]]; then
	matrix "${@:2}"
	exit
fi

venv python3 .venv requirements-dev.txt
types() {
	local page=.mypy_cache/page.py files=.mypy_cache/files
	rm -rf $files && mkdir -p $files
	quiet .venv/bin/mypy &&
		.venv/bin/python ../../scripts/testing/python_page.py ../../docs/reference/python.md >"$page" &&
		.venv/bin/python ../../scripts/testing/page_files.py $files ../../README.md ../../docs/quickstart/python.md &&
		quiet .venv/bin/mypy --strict $files/*.py ../../examples/python/workers.py "$page"
}

[[ ${1:-} == build || ${1:-} == check ]] || { types && tests; }
[[ ${1:-} != test ]] || exit 0
build
[[ ${1:-} != build ]] || exit 0

tests --loop=uvloop
tests tests/hosts
quiet .venv/bin/ruff format --check .
quiet .venv/bin/ruff check .
quiet .venv/bin/twine check --strict dist/*
installed "$PWD/.venv/bin/python"
python=$(oldest)
if [[ -n $python ]]; then
	venv "$python" .venv-oldest requirements-oldest.txt
	installed "$PWD/.venv-oldest/bin/python"
fi
PYTHONPATH=src quiet .venv/bin/python -W error -m pdoc --output-directory docs-out millrace millrace.sync millrace.testing
