#!/usr/bin/env bash
# Messages and logins by kith, by Centrifugo 6 and by a line router in C (router.c), with one generator, in turn on this machine.
#
#   KITH_BIN=…/release/kith tests/peers/centrifugo.sh [--json]
#
# Prints a table for a page of docs, and on stderr what it does. KITH_BIN: a release build; LOAD_BIN [KITH_BIN]: the generator, if it is
# another build. ROUNDS [3], one server after the other in each round; the first one changes from round to round. Each figure has a
# process of its own, freshly started. A ratio is kith's figure by the other's in the same round. Medians, with the least and the most.
#
# - stress: MEMBERS [1000] in groups of 10, 100 bytes a message, 4 in flight each, for SECONDS_EACH [10]
# - rate: the same members, RATE [2000] messages per second in all
# - login: CONNECTIONS [5000] arrive at LOGIN_RATE [2000] per second, and are silent for 3 s
#
# A message is sent, acknowledged and delivered once in each server. Kith acknowledges after the message is on disk. Centrifugo has
# neither history nor recovery here, and the router stores nothing, so neither is durable. In Centrifugo a message is a publication in the
# personal channel of its receiver, to which the server subscribes each user at login; presence is off. ENCODING [centrifugo] of its clients
# is Protobuf, which costs Centrifugo less than JSON; centrifugo-json: JSON, as kith's clients and as browsers do by default. Both servers
# check a JWT (HS256) at each login, the router takes any name. The router has one thread, the others one per core.
#
# Centrifugo is built from the Go module proxy into the cache if it is missing there, which takes some minutes. Nothing is installed, and
# nothing stays behind.
set -euo pipefail

kith="${KITH_BIN:?the release build of kith to measure}"
load="${LOAD_BIN:-$kith}"
rounds="${ROUNDS:-3}" seconds="${SECONDS_EACH:-10}" members="${MEMBERS:-1000}" rate="${RATE:-2000}"
connections="${CONNECTIONS:-5000}" login_rate="${LOGIN_RATE:-2000}" encoding="${ENCODING:-centrifugo}"
read -ra servers <<<"${SERVERS:-kith centrifugo router}"
format=text
[ "${1:-}" = --json ] && format=json
here="$(cd "$(dirname "$0")" && pwd)"

version=6.9.1
folder="${XDG_CACHE_HOME:-$HOME/.cache}/kith/centrifugo/$version"

say() { echo "$*" >&2; }

for tool in jq cc; do command -v "$tool" >/dev/null || { say "$tool is missing"; exit 1; }; done
if [[ " ${servers[*]} " == *" centrifugo "* && ! -x "$folder/centrifugo" ]]; then
  command -v go >/dev/null || { say "Go is missing; it builds Centrifugo"; exit 1; }
  say "building Centrifugo $version into $folder"
  GOBIN="$folder" GOFLAGS=-p=1 nice -n 19 go install "github.com/centrifugal/centrifugo/v6@v$version" >&2
fi

work="$(mktemp -d)"
pid=
finish() {
  [ -z "$pid" ] || { kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; } || true
  rm -rf "$work"
}
trap finish EXIT
# A message on a file system in memory is not durable.
[ "$(stat -f -c %T "$work")" != tmpfs ] || { say "$work is in memory; name a folder on a disk: TMPDIR=…"; exit 1; }
cc -O2 -o "$work/router" "$here/router.c"

secret=0123456789abcdef0123456789abcdef
echo "$secret" >"$work/secret"

listens() { (: </dev/tcp/127.0.0.1/"$port") 2>/dev/null; }
# Below the ports that the system gives to clients, some of which may still be closing.
free_port() { while port=$((10000 + RANDOM % 20000)) && listens; do :; done; }

start_kith() {
  {
    echo "[limits]"
    for limit in send_burst send_per_minute command_burst command_per_minute site_sends_per_second requests_per_user \
      requests_per_address requests_per_site; do echo "$limit = 0"; done
  } >"$work/kith.toml"
  XDG_RUNTIME_DIR="$work" "$kith" demo --strangers --data "$work/kith" --config "$work/kith.toml" --http "127.0.0.1:$port" --log warn \
    >"$work/log" 2>&1 &
  pid=$!
}

start_centrifugo() {
  cat >"$work/centrifugo.json" <<END
{
  "http_server": {"address": "127.0.0.1", "port": "$port"},
  "log": {"level": "error"},
  "usage_stats": {"disabled": true},
  "client": {
    "token": {"hmac_secret_key": "$secret"},
    "subscribe_to_user_personal_channel": {"enabled": true}
  },
  "channel": {"without_namespace": {"allow_publish_for_client": true}}
}
END
  "$folder/centrifugo" -c "$work/centrifugo.json" >"$work/log" 2>&1 &
  pid=$!
}

start_router() {
  "$work/router" "$port" >"$work/log" 2>&1 &
  pid=$!
}

# Kith listens before its database is made; then it prints its addresses.
is_ready() { if [ "$1" = kith ]; then grep -q "http://127.0.0.1:$port$" "$work/log"; else listens; fi; }

start() { # name
  free_port
  "start_$1"
  for _ in $(seq 600); do
    is_ready "$1" && return
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  say "$1 does not start"
  cat "$work/log" >&2
  exit 1
}

stop() {
  kill "$pid"
  wait "$pid" 2>/dev/null || true
  pid=
  rm -rf "$work/kith"
}

measure() { # round, name, figure, arguments of the generator
  local round=$1 name=$2 figure=$3 transport access=(--secret-file "$work/secret")
  shift 3
  case "$name" in
    kith) transport=websocket access=(--data "$work/kith") ;;
    centrifugo) transport="$encoding" ;;
    router) transport=line ;;
  esac
  start "$name"
  XDG_RUNTIME_DIR="$work" "$load" load run "$@" --set "transport=$transport" --url "http://127.0.0.1:$port" "${access[@]}" --pid "$pid" --json \
    >"$work/run" 2>"$work/load.log" || { cat "$work/load.log" "$work/log" >&2; exit 1; }
  stop
  jq -c --arg name "$name" --arg figure "$figure" --argjson round "$round" '. + {name: $name, figure: $figure, round: $round}' \
    "$work/run" >>"$work/samples"
  jq -r --arg name "$name" --arg figure "$figure" 'select(.valid | not) | "\($name), \($figure): not valid, \(.invalid_because)"' "$work/run" >&2
}

for round in $(seq "$rounds"); do
  say "round $round of $rounds: ${servers[*]}"
  for name in "${servers[@]}"; do
    measure "$round" "$name" login flood --set "connections=$connections" --set "rate=$login_rate.0" --set hold=3s --set settle=1s
    measure "$round" "$name" stress stress --set "members=$members" --set "time=${seconds}s"
    measure "$round" "$name" rate stress --set "members=$members" --set "time=${seconds}s" --set "rate=$rate.0"
  done
  servers=("${servers[@]:1}" "${servers[0]}")
done

if [ "$format" = json ]; then jq -s . "$work/samples"; exit; fi
jq -rs --arg rounds "$rounds" --arg seconds "$seconds" --arg members "$members" --arg rate "$rate" --arg connections "$connections" \
  --arg login_rate "$login_rate" --arg version "$version" --arg encoding "$encoding" --arg cores "$(nproc)" '
  def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
  def shown($digits): (. * pow(10; $digits) | round) / pow(10; $digits) | tostring;
  def spread($digits): map(select(. != null)) | if length == 0 then "–" else "\(median | shown($digits)) (\(min | shown($digits))–\(max | shown($digits)))" end;
  . as $all
  | def of($name; $figure; $path): [$all[] | select(.name == $name and .figure == $figure) | {round, value: getpath($path)}] | sort_by(.round);
    def values($name; $figure; $path): of($name; $figure; $path) | map(.value);
    def ratios($other; $figure; $path):
      [of("kith"; $figure; $path)[] as $kith | of($other; $figure; $path)[] | select(.round == $kith.round and (.value // 0) > 0) | $kith.value / .value];
  "Centrifugo \($version) (\($encoding)), \($members) members in groups of 10, \($seconds) s, \($connections) logins at \($login_rate)/s, \($cores) cores that the generator shares, \($rounds) rounds in turn. Median (least–most).\n",
  "| | kith, durable | centrifugo, not durable | router | kith by centrifugo | kith by router |", "|---|---|---|---|---|---|",
  (["stress: server CPU per million, s", "stress", ["cpu_seconds_per_million"], 1],
   ["stress: delivered per second", "stress", ["delivered_per_second"], 0],
   ["stress: p50, ms", "stress", ["delivery_ms", "p50"], 2],
   ["stress: p99, ms", "stress", ["delivery_ms", "p99"], 2],
   ["at \($rate)/s: server CPU per million, s", "rate", ["cpu_seconds_per_million"], 1],
   ["at \($rate)/s: p50, ms", "rate", ["delivery_ms", "p50"], 2],
   ["at \($rate)/s: p99, ms", "rate", ["delivery_ms", "p99"], 2],
   ["server CPU of a login, µs", "login", ["cpu_us_per_connect"], 0],
   ["user memory of a silent connection, B", "login", ["user_bytes_per_connection"], 0]
   | . as [$what, $figure, $path, $digits]
   | "| \($what) | \(values("kith"; $figure; $path) | spread($digits)) | \(values("centrifugo"; $figure; $path) | spread($digits)) | \(values("router"; $figure; $path) | spread($digits)) | \(ratios("centrifugo"; $figure; $path) | spread(2)) | \(ratios("router"; $figure; $path) | spread(2)) |"),
  (["stress: busiest thread of the generator, %", "stress", ["generator_busiest_percent"], 0]
   | . as [$what, $figure, $path, $digits]
   | "| \($what) | \(values("kith"; $figure; $path) | spread($digits)) | \(values("centrifugo"; $figure; $path) | spread($digits)) | \(values("router"; $figure; $path) | spread($digits)) | | |"),
  (["lost, doubled or strange, in all", map(select(.figure != "login") | {name, value: (.lost + .doubled + .strange)})],
   ["runs that were not valid", map({name, value: (if .valid then 0 else 1 end)})]
   | . as [$what, $values] | def sum($name): [$values[] | select(.name == $name) | .value] | add // 0;
     "| \($what) | \(sum("kith")) | \(sum("centrifugo")) | \(sum("router")) | | |")
' "$work/samples"
