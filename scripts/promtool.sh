#!/usr/bin/env bash
# Checks a node's /metrics with promtool (Debian: prometheus). KITH_BIN=… scripts/promtool.sh
set -euo pipefail
promtool=${PROMTOOL:-promtool}
data=$(mktemp -d)
"$KITH_BIN" demo --data "$data" --http 127.0.0.1:0 --metrics-public --log warn >"$data/out" &
node=$!
trap 'kill $node; wait $node 2>/dev/null || true; rm -rf "$data"' EXIT
for _ in $(seq 300); do
  url=$(sed -nE 's/^ +http +(http:[^ ]+)$/\1/p' "$data/out")
  [ -n "$url" ] && curl -fsS "$url/readyz" >/dev/null 2>&1 && break
  sleep 0.1
done
curl -fsS -H 'Accept: text/plain' "$url/metrics" | "$promtool" check metrics
curl -fsS -H 'Accept: application/openmetrics-text' "$url/metrics" | tail -1 | grep -qx '# EOF'
echo "promtool has nothing to say"
