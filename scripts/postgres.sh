#!/usr/bin/env bash
# PostgreSQL for tests and benches. Without a command, prints the directory of its programs; as root it installs Debian's
# package if they are missing.
#
#   postgres.sh run [DIR]   starts a private server in DIR (default: a new temporary directory), prints its URL without a
#                           database, and ends the server when the standard input ends. A temporary directory is removed.
#                           KITH_POSTGRES_OPTIONS: more options of `postgres`, e.g. "-c fsync=off".
#   postgres.sh serve DIR   the same in the foreground, until it gets SIGTERM or SIGINT
#   postgres.sh copy FROM DIR
#                           makes DIR a replica of the server that runs in FROM. What was in DIR is lost. Then `run DIR` starts it.
#   postgres.sh promote DIR
#                           the replica that runs in DIR becomes a server that takes writes.
set -euo pipefail

find_programs() {
  local dir
  for dir in "${POSTGRES_BIN:-}" "$(dirname "$(readlink -f "$(command -v initdb || echo /)")")" $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -Vr); do
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

# PostgreSQL refuses to run as root. Sets `as_user`, the begin of a command that runs as another user.
choose_user() {
  user=postgres
  id "$user" >/dev/null 2>&1 || user=nobody
  as_user=()
  if [ "$(id -u)" = 0 ]; then as_user=(setpriv "--reuid=$user" "--regid=$(id -g "$user")" --clear-groups --); fi
}

# Sends SIGINT (fast shutdown) to the server itself, not to the shell that has started it.
stop() {
  kill -INT "$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null)" 2>/dev/null || true
  wait "$running" 2>/dev/null || true
  if [ "$2" = no ]; then rm -rf "$1"; fi
}

make_dir() {
  mkdir -p "$1"
  chmod 700 "$1"
  if [ "$(id -u)" = 0 ]; then chown "$user" "$1"; fi
  cd "$1"
}

copy() {
  local bin from=$1 dir=$2
  bin=$(programs)
  choose_user
  make_dir "$dir"
  rm -rf "$dir/data"
  "${as_user[@]}" "$bin/pg_basebackup" -h "$from" -U kith -D "$dir/data" --write-recovery-conf --checkpoint=fast --no-sync
}

promote() {
  local bin
  bin=$(programs)
  choose_user
  "${as_user[@]}" "$bin/pg_ctl" promote -D "$1/data" >/dev/null
}

# Makes the data of a server in $dir, if there are none, and sets its command.
prepare() {
  bin=$(programs)
  choose_user
  make_dir "$dir"
  # shellcheck disable=SC2206
  server=("${as_user[@]}" "$bin/postgres" -D "$dir/data" -k "$dir" -c listen_addresses= -c max_connections=400 ${KITH_POSTGRES_OPTIONS:-})
  [ -f "$dir/data/PG_VERSION" ] && return 0
  "${as_user[@]}" "$bin/initdb" -D "$dir/data" -U kith -A trust -E UTF8 --locale=C --no-sync >"$dir/initdb.log" 2>&1 ||
    { cat "$dir/initdb.log" >&2; return 1; }
}

run() {
  local bin server
  keep=yes
  dir=${1:-}
  if [ -z "$dir" ]; then
    dir=$(mktemp -d /tmp/kith-pg-XXXXXX)
    keep=no
  fi
  prepare
  "${server[@]}" </dev/null >"$dir/log" 2>&1 &
  running=$!
  trap 'stop "$dir" "$keep"' EXIT
  local tries=0
  until [ -S "$dir/.s.PGSQL.5432" ] && grep -Eq "ready to accept (read-only )?connections" "$dir/log"; do
    tries=$((tries + 1))
    if [ $tries -gt 300 ] || ! kill -0 $running 2>/dev/null; then
      cat "$dir/log" >&2
      return 1
    fi
    sleep 0.1
  done
  echo "postgres://kith@${dir//\//%2F}"
  cat >/dev/null
}

serve() {
  local bin server
  dir=$1
  prepare
  exec "${server[@]}" </dev/null
}

case ${1:-} in
"") programs ;;
run) shift; run "$@" ;;
serve) serve "$2" ;;
copy) copy "$2" "$3" ;;
promote) promote "$2" ;;
*)
  echo "usage: $0 [run [DIR] | serve DIR | copy FROM DIR | promote DIR]" >&2
  exit 2
  ;;
esac
