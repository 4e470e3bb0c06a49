#!/usr/bin/env bash
# Prints where the Chromium for the browser tests is. Without one: installs Debian's as root, else says the command.
set -euo pipefail

for name in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
  if [ -n "$name" ] && command -v "$name"; then exit 0; fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  {
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends chromium
  } </dev/null >&2
  command -v chromium
  exit 0
fi
echo "error: the browser tests need Chromium" >&2
echo "  try: sudo apt-get install chromium     (or set CHROMIUM to the path of one)" >&2
exit 1
