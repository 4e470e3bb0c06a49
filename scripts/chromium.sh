#!/usr/bin/env bash
# Prints the path of the Chromium for the browser tests; with `shell`, of its headless shell, which takes half of the
# CPU time. As root it installs Debian's package if it is missing. Without a headless shell, prints the path of
# Chromium.
set -euo pipefail

wanted=${1:-chromium}

found() {
  local name
  for name in "$@"; do
    if [ -n "$name" ] && command -v "$name"; then return 0; fi
  done
  return 1
}

find_chromium() { found "${CHROMIUM:-}" chromium chromium-browser google-chrome; }
find_shell() { found "${CHROMIUM_SHELL:-}" chromium-headless-shell; }

install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq </dev/null >&2
  apt-get install -y -qq --no-install-recommends "$@" </dev/null >&2
}

case $wanted in
chromium)
  # Install both at once, so that the package lists are read once.
  find_chromium || { { install chromium chromium-headless-shell || install chromium; } && find_chromium; } && exit 0
  echo "error: the browser tests need Chromium" >&2
  echo "  try: sudo apt-get install chromium     (or set CHROMIUM to the path of one)" >&2
  exit 1
  ;;
shell)
  find_shell || { install chromium-headless-shell && find_shell; } || find_chromium
  ;;
*)
  echo "usage: $0 [shell]" >&2
  exit 2
  ;;
esac
