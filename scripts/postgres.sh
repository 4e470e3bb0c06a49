#!/usr/bin/env bash
# PostgreSQL for tests and benches. Without a command, prints the directory of its programs; as root it installs Debian's
# package if they are missing.
#
#   postgres.sh run [DIR]   starts a private server in DIR (default: a new temporary directory), prints its URL without a
#                           database, and ends the server when the standard input ends. A temporary directory is removed.
#                           KITH_POSTGRES_OPTIONS: more options of `postgres`, e.g. "-c fsync=off".
set -euo pipefail

find_programs() {
  local dir
  for dir in "${POSTGRES_BIN:-}" "$(dirname "$(command -v initdb || echo /)")" $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -Vr); do
    if [ -n "$dir" ] && [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ]; then
      echo "$dir"
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
    find_programs >/dev/null && exit 0
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq </dev/null >&2
    # In this run level no package starts its service: nobody here wants a server beside the tests.
    RUNLEVEL=1 apt-get install -y -qq --no-install-recommends postgresql </dev/null >&2
  ) 9>/tmp/kith-install.lock
}

programs() {
  find_programs || { install && find_programs; } && return 0
  echo "error: this needs PostgreSQL 13 or newer" >&2
  echo "  try: sudo apt-get install postgresql     (or set POSTGRES_BIN to the directory of initdb)" >&2
  return 1
}

# PostgreSQL refuses to run as root.
as_user() {
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups -- "$@"
  else
    "$@"
  fi
}

# Sends SIGINT (fast shutdown) to the server itself, not to the shell that has started it.
stop() {
  kill -INT "$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  if [ "$2" = no ]; then rm -rf "$1"; fi
}

run() {
  local bin
  keep=yes
  bin=$(programs)
  user=postgres
  id "$user" >/dev/null 2>&1 || user=nobody
  dir=${1:-}
  if [ -z "$dir" ]; then
    dir=$(mktemp -d /tmp/kith-pg-XXXXXX)
    keep=no
  fi
  mkdir -p "$dir"
  chmod 700 "$dir"
  if [ "$(id -u)" = 0 ]; then chown "$user" "$dir"; fi
  cd "$dir"
  if [ ! -f "$dir/data/PG_VERSION" ]; then
    as_user "$bin/initdb" -D "$dir/data" -U kith -A trust -E UTF8 --locale=C --no-sync >"$dir/initdb.log" 2>&1 ||
      { cat "$dir/initdb.log" >&2; return 1; }
  fi
  # shellcheck disable=SC2086
  as_user "$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c max_connections=400 \
    ${KITH_POSTGRES_OPTIONS:-} </dev/null >"$dir/log" 2>&1 &
  server=$!
  trap 'stop "$dir" "$keep"' EXIT
  local tries=0
  until [ -S "$dir/.s.PGSQL.5432" ] && grep -q "ready to accept connections" "$dir/log"; do
    tries=$((tries + 1))
    if [ $tries -gt 300 ] || ! kill -0 $server 2>/dev/null; then
      cat "$dir/log" >&2
      return 1
    fi
    sleep 0.1
  done
  echo "postgres://kith@${dir//\//%2F}"
  cat >/dev/null
}

case ${1:-} in
"") programs ;;
run) shift; run "$@" ;;
*)
  echo "usage: $0 [run [DIR]]" >&2
  exit 2
  ;;
esac
