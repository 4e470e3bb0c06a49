#!/usr/bin/env bash
# Takes the place of `kith` in these tests: `demo` starts NATS, a home, and a front. The front has the addresses of the settings, so all clients and
# other servers connect with it. Every other command goes to the binary in KITH_HOME_BIN.
set -euo pipefail
kith=${KITH_HOME_BIN:?set KITH_HOME_BIN to the kith binary}
[ "${1:-}" = demo ] || exec "$kith" "$@"
[ "${2:-}" = --data ] || { echo "usage: $0 demo --data DIR" >&2; exit 2; }
data=$3
mkdir -p "$data.cluster"
processes=()
stop() {
  trap - EXIT TERM INT
  # The front first, so that its clients hear a farewell.
  for ((at = ${#processes[@]} - 1; at >= 0; at--)); do
    kill "${processes[at]}" 2>/dev/null || true
    wait "${processes[at]}" 2>/dev/null || true
  done
}
trap stop EXIT
trap 'exit 0' TERM INT

# --- NATS, on a port that was free a moment ago
nats=$("$(dirname "$0")/../../scripts/nats.sh")
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })')
secret=$data.cluster/secret
(umask 077 && od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$secret")
password=$(sha256sum "$secret" | cut -c1-32)
"$nats" -a 127.0.0.1 -p "$port" --user kith --pass "$password" >"$data.cluster/nats.log" 2>&1 &
processes+=($!)
export KITH_CLUSTER_NATS="nats://kith:$password@127.0.0.1:$port" KITH_CLUSTER_SECRET_FILE=$secret

# --- the home, where no client comes
at_home() { [ -z "${!1:-}" ] || echo "$1=127.0.0.1:0"; }
mapfile -t listeners < <(at_home KITH_HTTPS; at_home KITH_XMPP_S2S_LISTEN; at_home KITH_XMPP_COMPONENT_LISTEN)
env KITH_HTTP=127.0.0.1:0 KITH_XMPP_LISTEN=127.0.0.1:0 KITH_XMPP_LISTEN_TLS=off KITH_CALLS_LISTEN=off "${listeners[@]}" \
  "$kith" demo --role home --data "$data" >"$data.cluster/home.log" 2>&1 &
processes+=($!)

# --- the front
env -u KITH_XMPP_COMPONENTS "$kith" serve --role front --data "$data.cluster/front" >"$data.cluster/front.log" 2>&1 &
processes+=($!)
# The page is the home's, so the front has its link. With HTTPS the answer is a redirect.
page() { node -e 'fetch(process.argv[1], { redirect: "manual" }).then(a => process.exit(a.status < 400 ? 0 : 1), () => process.exit(1))' "http://$KITH_HTTP/"; }
until page; do
  for process in "${processes[@]}"; do kill -0 "$process" || { cat "$data.cluster/"*.log; exit 1; }; done
  sleep 0.1
done
echo "The front is running."
wait
