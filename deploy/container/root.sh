#!/bin/sh
# Makes what the image has beside the program, below the folder $1: the stage `build` of
# the Dockerfile runs it.
set -eu
cd "$(dirname "$0")"

mkdir -p "$1/etc/ssl/certs" "$1/etc/millrace" "$1/data" "$1/config"
cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
cp Caddyfile "$1/etc/millrace/"
echo 'millrace:x:65532:65532:Millrace:/data:/sbin/nologin' >"$1/etc/passwd"
echo 'millrace:x:65532:' >"$1/etc/group"
chmod 0755 "$1/etc" "$1/etc/ssl" "$1/etc/ssl/certs" "$1/etc/millrace"
chmod 0644 "$1/etc/ssl/certs/ca-certificates.crt" "$1/etc/millrace/Caddyfile" "$1/etc/passwd" "$1/etc/group"
chmod 0700 "$1/data" "$1/config"
