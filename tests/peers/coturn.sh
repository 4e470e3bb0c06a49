#!/usr/bin/env bash
# STUN and TURN by kith and by Debian's coturn, in turn on this machine: answers, allocations and packets per second, CPU and memory of each.
#
#   KITH_BIN=…/release/kith tests/peers/coturn.sh [--json]
#
# Prints a table for a page of docs, then a line for each figure that begins with `=` (name, median, least and most of kith, the same of
# coturn, and of kith's by coturn's), and on stderr what it does. KITH_BIN: a release build. ROUNDS [3] of SECONDS_EACH [5] for
# questions and as long for data, one server after the other in each round, so that what else the machine does meets both alike; who is
# first changes from round to round, because what the kernel has given to the first it has ready for the second.
# The generator is `kith load turn` in both cases, with the same packets and windows. RELAYS [6000], FLOWS [64], BYTES [1000] of a packet.
# coturn is unpacked from Debian's packages into the cache where it is missing, and not installed: its package would start it with the
# machine. A ratio is kith's figure by coturn's in the same round. Medians, with the least and the most.
set -euo pipefail

kith="${KITH_BIN:?the release build of kith to measure}"
rounds="${ROUNDS:-3}"
seconds="${SECONDS_EACH:-5}"
relays="${RELAYS:-6000}"
flows="${FLOWS:-64}"
bytes="${BYTES:-1000}"
format=text
[ "${1:-}" = --json ] && format=json

say() { echo "$*" >&2; }

source "$(dirname "$0")/unpack.sh"

command -v jq >/dev/null || { say "jq is missing; say: apt-get install jq"; exit 1; }
command -v turnserver >/dev/null || unpack coturn libevent_core coturn libevent-core-2.1-7 libevent-extra-2.1-7 libevent-openssl-2.1-7 \
  libevent-pthreads-2.1-7 libhiredis0.14 libmariadb3

work="$(mktemp -d)"
pids=()
finish() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT

secret=0123456789abcdef0123456789abcdef
echo "$secret" >"$work/secret"
free_port() { # of UDP
  local port
  while port=$((10000 + RANDOM % 9000)) && grep -q "$(printf ':%04X ' "$port")" /proc/net/udp /proc/net/udp6; do :; done
  echo "$port"
}

# Both with two threads, the same secret and ports, peers on loopback, and no quotas.
start_kith() {
  kith_port="$(free_port)"
  cat >"$work/kith.toml" <<END
[calls]
listen = "127.0.0.1:$kith_port"
turn_secret_file = "$work/secret"
peers = "127.0.0.0/8"
ports = "20000-65535"
relays = 0
relays_per_user = 0
kbit_per_user = 0
unproven_bytes = 0
END
  XDG_RUNTIME_DIR="$work" "$kith" demo --data "$work/data" --config "$work/kith.toml" --http 127.0.0.1:0 --workers 2 --private-descriptors \
    --log warn >"$work/kith.out" 2>"$work/kith.log" &
  kith_pid=$!
}

start_coturn() {
  coturn_port="$(free_port)"
  turnserver -n --listening-ip 127.0.0.1 --listening-port "$coturn_port" --relay-ip 127.0.0.1 --min-port 20000 --max-port 65535 \
    --use-auth-secret --static-auth-secret "$secret" --realm kith --allow-loopback-peers --no-cli --no-tls --no-dtls --no-tcp \
    --relay-threads 2 --log-file "$work/coturn.log" --simple-log --pidfile "$work/coturn.pid" --userdb "$work/coturn.db" \
    --no-stdout-log --cli-password none >"$work/coturn.out" 2>&1 &
  coturn_pid=$!
}

await() { # port, process, name
  for _ in $(seq 100); do
    grep -q "$(printf ':%04X ' "$1")" /proc/net/udp && return
    kill -0 "$2" 2>/dev/null || break
    sleep 0.1
  done
  say "$3 does not listen"; cat "$work/$3".* >&2
  exit 1
}

measure() { # name, port, process
  "$kith" load run turn --set "server=127.0.0.1:$2" --set "turn-secret-file=$work/secret" --set "relays=$relays" \
    --set "flows=$flows" --set "packet-bytes=$bytes" --set "time=${seconds}s" --pid "$3" --threads 2 --url "http://127.0.0.1:$http" \
    --data "$work/data" --yes --json 2>>"$work/load.log" | jq -c --arg name "$1" '. + {name: $name}' >>"$work/samples" ||
    { cat "$work/load.log" >&2; exit 1; }
}

for round in $(seq "$rounds"); do
  say "round $round of $rounds"
  # New processes in each round: memory is measured from a fresh start.
  start_kith; pids=("$kith_pid"); await "$kith_port" "$kith_pid" kith
  http=
  for _ in $(seq 100); do
    http="$(sed -nE 's|^ *http +http://127.0.0.1:([0-9]+)$|\1|p' "$work/kith.out")"
    [ -n "$http" ] && break
    sleep 0.1
  done
  start_coturn; pids+=("$coturn_pid"); await "$coturn_port" "$coturn_pid" coturn
  order=(kith coturn)
  [ $((round % 2)) = 1 ] || order=(coturn kith)
  for name in "${order[@]}"; do
    port="${name}_port" pid="${name}_pid"
    measure "$name" "${!port}" "${!pid}"
    sleep 1
  done
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null || true; done
  rm -rf "$work/data"
done
pids=()

if [ "$format" = json ]; then jq -s . "$work/samples"; exit; fi
jq -rs --arg version "$(turnserver --version 2>/dev/null | tail -1)" --arg rounds "$rounds" --arg seconds "$seconds" \
  --arg relays "$relays" --arg flows "$flows" --arg bytes "$bytes" --arg cores "$(nproc)" '
  def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
  def shown($digits): (. * pow(10; $digits) | round) / pow(10; $digits) | tostring;
  def spread($digits): "\(median | shown($digits)) (\(min | shown($digits))–\(max | shown($digits)))";
  def of($name): [.[] | select(.name == $name)];
  def three: "\(median) \(min) \(max)";
  def ratios($ours; $theirs): [range($ours | length) | select($theirs[.] > 0) | $ours[.] / $theirs[.]];
  of("kith") as $kith | of("coturn") as $coturn |
  "coturn \($version), \($rounds) rounds, \($seconds) s of questions and of data each, \($relays) relays, \($flows) flows of \($bytes) bytes both ways, \($cores) cores. Median (least–most).\n",
  "| | kith | coturn | kith by coturn |", "|---|---|---|---|",
  ([["answers per second", "answered_per_second", 0], ["CPU of an answer, µs", "cpu_micros_per_answer", 2],
    ["allocations per second", "allocations_per_second", 0], ["CPU of an allocation, µs", "cpu_micros_per_allocation", 1],
    ["user memory of a relay, B", "user_bytes_per_relay", 0], ["kernel memory of a relay, B", "kernel_bytes_per_relay", 0],
    ["packets relayed per second", "packets_per_second", 0],
    ["CPU of a packet, µs", "cpu_micros_per_packet", 2], ["CPU of a megabit, ms", "cpu_millis_per_megabit", 3],
    ["packets lost", "lost", 0]][]
   | . as [$what, $key, $digits]
   | [$kith[][$key] | numbers] as $ours | [$coturn[][$key] | numbers] as $theirs
   | select(($ours | length) > 0 and ($theirs | length) > 0)
   | ratios($ours; $theirs) as $ratio
   | "| \($what) | \($ours | spread($digits)) | \($theirs | spread($digits)) | \(if ($ratio | length) > 0 then $ratio | spread(2) else "–" end) |"),
  "",
  (["answered_per_second", "cpu_micros_per_answer", "allocations_per_second", "cpu_micros_per_allocation", "user_bytes_per_relay",
    "kernel_bytes_per_relay", "packets_per_second", "cpu_micros_per_packet", "cpu_millis_per_megabit", "lost"][] as $key
   | [$kith[][$key] | numbers] as $ours | [$coturn[][$key] | numbers] as $theirs
   | select(($ours | length) > 0 and ($theirs | length) > 0) | ratios($ours; $theirs) as $ratio
   | "= \($key) kith \($ours | three) coturn \($theirs | three) ratio \(if ($ratio | length) > 0 then $ratio | three else "none" end)")
' "$work/samples"
