#!/usr/bin/env bash
# The widget's script from kith and from Debian's nginx, in turn on this machine: requests per second, and CPU of each.
#
#   KITH_BIN=…/release/kith tests/peers/nginx.sh [--json]        or: make peers
#
# Prints a table for a page of docs, and on stderr what it does. KITH_BIN: a release build with the widget in it. ROUNDS [5] of
# SECONDS_EACH [3] per row, all rows one after the other in each round, so that what else the machine does meets them alike.
# nginx and wrk are unpacked from Debian's packages into the cache where they are missing, and not installed: nginx' package
# would start it with the machine. A ratio is kith's figure by nginx's in the same round. Medians, with the least and the most.
set -euo pipefail

kith="${KITH_BIN:?the release build of kith to measure}"
rounds="${ROUNDS:-5}"
seconds="${SECONDS_EACH:-3}"
format=text
[ "${1:-}" = --json ] && format=json
dist="$(cd "$(dirname "$0")/../../widget/dist" && pwd)"

say() { echo "$*" >&2; }

source "$(dirname "$0")/unpack.sh"

command -v curl >/dev/null || { say "curl is missing; say: apt-get install curl"; exit 1; }
[ "$(command -v nginx wrk | wc -l)" = 2 ] || unpack peers libluajit nginx wrk libluajit-5.1-2

work="$(mktemp -d)"
pids=()
finish() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; done
  rm -rf "$work"
}
trap finish EXIT

# A copy, since nginx' workers are another user who may not look into the checkout.
chmod 755 "$work"
cp -r "$dist" "$work/root"
path="kith/$(basename "$dist"/kith/app-*.js)"

listens() { (: </dev/tcp/127.0.0.1/"$1") 2>/dev/null; }

free_port() {
  local port
  while port=$((20000 + RANDOM % 10000)) && listens "$port"; do :; done
  echo "$port"
}

await() { # port, process
  for _ in $(seq 100); do
    listens "$1" && return
    kill -0 "$2" || break
    sleep 0.1
  done
  echo "nobody listens on port $1" >&2
  cat "$work"/*.log >&2
  return 1
}

# By default nginx opens the file for each request; with a cache of open files it is as fast as it can be.
plain_port="$(free_port)"
cached_port="$(free_port)"
cat >"$work/nginx.conf" <<END
daemon off; worker_processes 2; pid $work/nginx.pid; error_log $work/nginx.log; events { worker_connections 2048; }
http {
  types { text/javascript js; } access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000;
  client_body_temp_path $work; proxy_temp_path $work; fastcgi_temp_path $work; uwsgi_temp_path $work; scgi_temp_path $work;
  root $work/root; gzip_static on; add_header Cache-Control "public, max-age=31536000, immutable";
  server { listen 127.0.0.1:$plain_port backlog=4096; open_file_cache off; }
  server { listen 127.0.0.1:$cached_port backlog=4096; open_file_cache max=100; }
}
END
nginx -e "$work/nginx.log" -c "$work/nginx.conf" 2>>"$work/nginx.log" &
nginx_pid=$!
pids+=("$nginx_pid")
XDG_RUNTIME_DIR="$work" "$kith" demo --data "$work/data" --http 127.0.0.1:0 --workers 2 --log warn \
  >"$work/kith.out" 2>"$work/kith.log" &
kith_pid=$!
pids+=("$kith_pid")
await "$plain_port" "$nginx_pid"
for _ in $(seq 100); do
  kith_port="$(sed -nE 's|^ *http +http://127.0.0.1:([0-9]+)$|\1|p' "$work/kith.out")"
  [ -n "$kith_port" ] && break
  sleep 0.1
done
await "$kith_port" "$kith_pid"

servers=(kith "nginx" "nginx, open_file_cache")
ports=("$kith_port" "$plain_port" "$cached_port")
mapfile -t nginx_workers < <(pgrep -P "$nginx_pid")
[ ${#nginx_workers[@]} = 2 ] || { say "nginx has ${#nginx_workers[@]} workers and not 2"; exit 1; }

fetch() { curl -sS -H 'Accept-Encoding: gzip' "$@"; }
url() { echo "http://127.0.0.1:${ports[$1]}/$path"; }

# What is compared must be the same: the compressed bytes of the build, and an answer without them.
tags=()
for server in 0 1 2; do
  fetch -D "$work/head" -o "$work/body" "$(url "$server")"
  cmp "$work/body" "$dist/$path.gz"
  tags+=("$(tr -d '\r' <"$work/head" | awk 'tolower($1) == "etag:" { print $2 }')")
  status="$(fetch -o /dev/null -w '%{http_code}' -H "If-None-Match: ${tags[$server]}" "$(url "$server")")"
  [ "$status" = 304 ] || { echo "${servers[$server]} answers $status instead of 304" >&2; exit 1; }
done

ticks() { awk '{ sub(/.*\) /, ""); sum += $12 + $13 } END { print sum }' "${@/%//stat}"; }

run() { # round, row, server, fields of the request
  local round=$1 row=$2 server=$3 processes=("/proc/$kith_pid")
  shift 3
  [ "$server" = 0 ] || processes=("${nginx_workers[@]/#//proc/}")
  local before after
  before="$(ticks "${processes[@]}")"
  wrk -t2 -c200 -d"${seconds}s" -H 'Accept-Encoding: gzip' "$@" "$(url "$server")" >"$work/wrk"
  after="$(ticks "${processes[@]}")"
  if grep -qE 'Non-2xx|Socket errors' "$work/wrk"; then cat "$work/wrk" >&2; exit 1; fi
  awk -v key="$round;$row;$server" -v ticks=$((after - before)) -v hz="$(getconf CLK_TCK)" \
    '/requests in/ { n = $1 } /Requests\/sec/ { print key ";" $2 ";" ticks / hz / n * 1e6 }' "$work/wrk" >>"$work/samples"
}

load() { cut -d' ' -f1 /proc/loadavg; }

load_before="$(load)"
for round in $(seq "$rounds"); do
  say "round $round of $rounds, $((6 * seconds)) s"
  for server in 0 1 2; do run "$round" body "$server"; done
  for server in 0 1 2; do run "$round" 304 "$server" -H "If-None-Match: ${tags[$server]}"; done
done

size() { stat -c %s "$dist/$path$1" 2>/dev/null || echo null; }
awk -F';' -v format="$format" -v rounds="$rounds" -v seconds="$seconds" -v names="$(printf '%s;' "${servers[@]}")" \
  -v busy="$load_before" -v cores="$(nproc)" -v version="$(nginx -v 2>&1 | sed 's|.*/||')" -v path="$path" \
  -v sizes="\"identity\": $(size ""), \"gzip\": $(size .gz), \"brotli\": $(size .br)" '
  { rate[$2, $3, $1] = $4; cpu[$2, $3, $1] = $5 }

  # Of the values 1 to n: sorted, the middle one, the least and the most.
  function spread(values, n,    i, j, swap) {
    for (i = 2; i <= n; i++)
      for (j = i; j > 1 && values[j - 1] > values[j]; j--) { swap = values[j]; values[j] = values[j - 1]; values[j - 1] = swap }
    median = n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
    least = values[1]; most = values[n]
  }
  function number(value, digits,    text) {
    text = sprintf("%." digits "f", value)
    while (text ~ /^[0-9][0-9][0-9][0-9]/) sub(/[0-9][0-9][0-9](,|\.|$)/, ",&", text)
    return text
  }
  function shown(kind, row, server, digits,    i, values, text) {
    for (i = 1; i <= rounds; i++) {
      if (kind == "rate") values[i] = rate[row, server, i]
      if (kind == "cpu") values[i] = cpu[row, server, i]
      if (kind == "rate_ratio") values[i] = rate[row, 0, i] / rate[row, server, i]
      if (kind == "cpu_ratio") values[i] = cpu[row, 0, i] / cpu[row, server, i]
    }
    spread(values, rounds)
    if (format == "json") text = "{\"median\": %." digits "f, \"least\": %." digits "f, \"most\": %." digits "f}"
    else return number(median, digits) " (" number(least, digits) "–" number(most, digits) ")"
    return sprintf(text, median, least, most)
  }
  END {
    split(names, name, ";")
    split("body 304", rows, " ")
    if (format == "json")
      printf "{\"peer\": \"nginx %s\", \"connections\": 200, \"rounds\": %d, \"seconds\": %d, \"file\": \"/%s\", \"bytes\": {%s}, \"rows\": [",
        version, rounds, seconds, path, sizes
    else {
      gsub(/"/, "", sizes)
      printf "`/%s` (%s bytes; asked for as gzip), nginx %s, 200 connections, %d rounds of %d s in turn, ",
        path, sizes, version, rounds, seconds
      printf "%d cores with a load average of %s before. Median (least–most).\n\n", cores, busy
      print "| | requests/s | CPU of each, µs | kith by this: requests | CPU |"
      print "|---|---|---|---|---|"
    }
    for (r = 1; r <= 2; r++)
      for (s = 0; s < 3; s++) {
        if (format == "json") {
          printf "%s\n  {\"row\": \"%s\", \"server\": \"%s\", \"requests_per_second\": %s, \"cpu_us_per_request\": %s", (r + s > 1 ? "," : ""),
            rows[r], name[s + 1], shown("rate", rows[r], s, 0), shown("cpu", rows[r], s, 2)
          if (s) printf ", \"kith_by_this_requests\": %s, \"kith_by_this_cpu\": %s", shown("rate_ratio", rows[r], s, 3), shown("cpu_ratio", rows[r], s, 3)
          printf "}"
        } else {
          printf "| %s, %s | %s | %s |", rows[r], name[s + 1], shown("rate", rows[r], s, 0), shown("cpu", rows[r], s, 1)
          if (s) printf " %s | %s |\n", shown("rate_ratio", rows[r], s, 2), shown("cpu_ratio", rows[r], s, 2)
          else print " | |"
        }
      }
    if (format == "json") print "\n]}"
  }' "$work/samples"
