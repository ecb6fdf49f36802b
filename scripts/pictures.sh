#!/usr/bin/env bash
# Makes docs/pictures: a moving picture of the page of `pubsub dev`, and pictures of the console,
# from the real pages in Chromium. Installs what scripts/install-test-deps.sh does, and in the
# checkout Pillow and a font.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/dist/pictures

scripts/install-test-deps.sh
python=integration/clients/.venv/bin/python
"$python" -m pip install --quiet --disable-pip-version-check pillow==12.2.0
npm install --prefix "$work/fonts" --no-save --no-audit --no-fund --loglevel=error @expo-google-fonts/inter@0.4.2

rm -rf "$work/taken"
mkdir -p "$work/taken"
MILLRACE_PICTURES=$work/taken FONTCONFIG_FILE=$PWD/integration/pictures/fonts.conf go test -count=1 -parallel 1 ./integration/pictures

rm -f docs/pictures/*.webp
"$python" scripts/pictures.py "$work/taken" docs/pictures
go test -count=1 -run 'TestPictures$' ./scripts # how large they are
