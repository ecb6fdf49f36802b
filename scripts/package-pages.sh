#!/usr/bin/env bash
# Has the program $1 write its completions and manual pages into the folders completions
# and man of $2. The pages have the date SOURCE_DATE_EPOCH.
set -euo pipefail
program=$1 folder=$2

mkdir -p "$folder/completions" "$folder/man"
"$program" completion bash >"$folder/completions/millrace.bash"
"$program" completion zsh >"$folder/completions/_millrace"
"$program" completion fish >"$folder/completions/millrace.fish"
TZ=UTC "$program" manpage --directory "$folder/man"
# Caddy's own pages name Caddy; the first one has no summary, which man-db needs.
sed -i -e 's/^\.TH "Caddy"/.TH "millrace"/' -e 's/^millrace -$/millrace - publish\/subscribe edge made of Caddy modules/' "$folder"/man/*.8
gzip -9 --no-name "$folder"/man/*.8
