#!/usr/bin/env bash
# Prints the path of nats-server. As root it installs Debian's package if it is missing.
set -euo pipefail

find_server() {
  local place
  for place in "${NATS_SERVER:-}" "$(command -v nats-server || true)" /usr/sbin/nats-server; do
    if [ -n "$place" ] && [ -x "$place" ]; then
      echo "$place"
      return 0
    fi
  done
  return 1
}

# Tests call this at the same time: the first one installs, and the others wait.
install() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
  (
    flock 9
    find_server >/dev/null && exit 0
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq </dev/null >&2
    # In this run level no package starts its service: nobody here wants a server beside the tests.
    RUNLEVEL=1 apt-get install -y -qq --no-install-recommends nats-server </dev/null >&2
  ) 9>/tmp/kith-install.lock
}

find_server || { install && find_server; } && exit 0
echo "error: this needs nats-server" >&2
echo "  try: sudo apt-get install nats-server     (or set NATS_SERVER to the path of one)" >&2
exit 1
