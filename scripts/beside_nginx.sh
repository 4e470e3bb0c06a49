#!/usr/bin/env bash
# The widget's files from kith and from nginx with gzip_static, in turn on this machine: requests per second and CPU.
# KITH_BIN: a release build with the widget in it. Needs nginx and wrk (apt-get install nginx wrk). ROUNDS [3].
set -euo pipefail

kith="${KITH_BIN:?the kith to measure}"
dist="$(cd "$(dirname "$0")/../widget/dist" && pwd)"
work="$(mktemp -d)"
chmod 755 "$work"

# A cache of open files is the best that nginx can do, and not its default.
cat >"$work/nginx.conf" <<END
worker_processes 2; pid $work/nginx.pid; error_log $work/nginx.log; events { worker_connections 2048; }
http { types { text/javascript js; } access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000;
  root $dist; gzip_static on;
  server { listen 127.0.0.1:9412; open_file_cache max=100; }
  server { listen 127.0.0.1:9413; open_file_cache off; } }
END
nginx -c "$work/nginx.conf"
"$kith" serve --data "$work/data" --http 127.0.0.1:9411 --workers 2 --log warn >/dev/null &
node=$!
trap 'kill "$node" "$(cat "$work/nginx.pid")"; rm -rf "$work"' EXIT
for _ in $(seq 50); do (: </dev/tcp/127.0.0.1/9411) 2>/dev/null && break; sleep 0.1; done

ticks() { for pid in "$@"; do awk '{ print $14 + $15 }' "/proc/$pid/stat"; done | paste -sd+ | bc; }

run() { # name, port, path, fields of the request
  local name=$1 port=$2 path=$3 pids=("$node")
  shift 3
  [ "$port" = 9411 ] || mapfile -t pids < <(pgrep -P "$(cat "$work/nginx.pid")")
  local before after
  before=$(ticks "${pids[@]}")
  wrk -t2 -c200 -d3s -H 'Accept-Encoding: gzip' "$@" "http://127.0.0.1:$port/$path" >"$work/wrk"
  after=$(ticks "${pids[@]}")
  awk -v name="$name" -v what="$path" -v ticks=$((after - before)) -v hz="$(getconf CLK_TCK)" \
    '/requests in/ { n = $1 } /Requests\/sec/ { rate = $2 } /Non-2xx/ { bad = $NF }
     END { printf "%-26s %-26s %7.0f/s %6.2f µs CPU each %s\n", what, name, rate, ticks / hz / n * 1e6, bad }' "$work/wrk"
}

app="kith/$(basename "$dist"/kith/app-*.js)"
tag() { curl -s -o /dev/null -D - -H 'Accept-Encoding: gzip' "http://127.0.0.1:$1/kith.js" | tr -d '\r' | awk 'tolower($1) == "etag:" { print $2 }'; }
for _ in $(seq "${ROUNDS:-3}"); do
  for path in kith.js "$app"; do
    run kith 9411 "$path"
    run "nginx, open_file_cache" 9412 "$path"
    run nginx 9413 "$path"
  done
  run "kith, 304" 9411 kith.js -H "If-None-Match: $(tag 9411)"
  run "nginx, 304, open_file_cache" 9412 kith.js -H "If-None-Match: $(tag 9412)"
done
