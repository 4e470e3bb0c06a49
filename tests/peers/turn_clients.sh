#!/usr/bin/env bash
# The clients of others against kith's STUN and TURN: turnutils_uclient of Debian's coturn, and aioice of PyPI.
#
#   KITH_BIN=…/kith tests/peers/turn_clients.sh
#   SERVER=coturn tests/peers/turn_clients.sh         turnutils_uclient against its own server, to tell whose fault something is
#
# Says a line for each way of asking, and ends with 1 if one does not run clean: every message must come back. coturn is unpacked
# into the cache, aioice is put into a folder there; nothing is installed. MESSAGES [50] of each of 4 clients.
#
# Left out are ways that we refuse, as their RFCs allow: relays of TCP (-T), mobility (-M), DONT-FRAGMENT (-g), a reserved port
# (without -c), DTLS (-S without -t), OAuth (-J).
set -euo pipefail

server="${SERVER:-kith}"
kith="${KITH_BIN:-}"
[ "$server" != kith ] || : "${KITH_BIN:?a build of kith}"
messages="${MESSAGES:-50}"
clients=4

say() { echo "$*" >&2; }

source "$(dirname "$0")/unpack.sh"

command -v turnutils_uclient >/dev/null || unpack coturn libevent_core coturn libevent-core-2.1-7 libevent-extra-2.1-7 \
  libevent-openssl-2.1-7 libevent-pthreads-2.1-7 libhiredis0.14 libmariadb3
python="${XDG_CACHE_HOME:-$HOME/.cache}/kith/aioice"
[ -d "$python/aioice" ] || python3 -m pip install --quiet --target "$python" aioice >&2

work="$(mktemp -d)"
pids=()
finish() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT

secret=0123456789abcdef0123456789abcdef
echo "$secret" >"$work/secret"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
port=$((10000 + RANDOM % 9000))

start_kith() {
  cat >"$work/kith.toml" <<TOML
[calls]
listen = "127.0.0.1:$port, [::1]:$port"
listen_tls = "127.0.0.1:$((port + 1))"
turn_secret_file = "$work/secret"
peers = "127.0.0.0/8, ::1"
ports = "20000-65535"
relays_per_user = 0
kbit_per_user = 0
TOML
  XDG_RUNTIME_DIR="$work" "$kith" demo --data "$work/data" --config "$work/kith.toml" --http 127.0.0.1:0 --https 127.0.0.1:0 \
    --tls-cert "$work/cert.pem" --tls-key "$work/key.pem" --log info >"$work/out" 2>"$work/log" &
  pids+=($!)
}

start_coturn() {
  turnserver -n --listening-ip 127.0.0.1 --listening-ip ::1 --listening-port "$port" --tls-listening-port "$((port + 1))" \
    --relay-ip 127.0.0.1 --relay-ip ::1 --min-port 20000 --max-port 65535 --use-auth-secret --static-auth-secret "$secret" \
    --realm kith --allow-loopback-peers --no-cli --no-dtls --cert "$work/cert.pem" --pkey "$work/key.pem" --simple-log \
    --log-file "$work/log" --pidfile "$work/coturn.pid" --userdb "$work/coturn.db" --cli-password none >"$work/out" 2>&1 &
  pids+=($!)
}

"start_$server"
for _ in $(seq 100); do
  # TLS comes last, in both.
  (exec 3<>"/dev/tcp/127.0.0.1/$((port + 1))") 2>/dev/null && break
  kill -0 "${pids[0]}" 2>/dev/null || { cat "$work/log" "$work/out" >&2; exit 1; }
  sleep 0.1
done

failed=0
wrong() { # what, how
  echo "turnutils_uclient, $1: $2"
  failed=1
}

# Echoes what comes through relays. At their address, so its port must be one of theirs.
echo_port=$((20000 + RANDOM % 40000))
turnutils_peer -p "$echo_port" -L 127.0.0.1 >/dev/null 2>&1 &
pids+=($!)

# Pairs of clients speak with each other through two relays, or without a partner with an echo. A complaint is what the client prints of an answer that it did not want,
# but for what it cannot want: with -G it asks for peers of the other family (443), for such as are not public (403) and for none (400),
# "trying to screw it", and it offers TLS 1.0 and 1.1 by chance before it comes to a version that is spoken.
uclient() { # what, flags
  local what=$1 told expected=$((messages * clients)) allowed='tls_connect: cannot connect|errno=.*SSL routines' partner=-y
  shift
  [[ " $* " == *" -e "* ]] && partner=-c
  [[ " $* " == *" -G "* ]] && allowed="$allowed|error (400|403|443) "
  timeout 60 turnutils_uclient -W "$secret" -u clients "$partner" -c -m "$clients" -n "$messages" -z 5 -l 170 "$@" >"$work/uclient" 2>&1 ||
    { tail -30 "$work/uclient"; wrong "$what" "it failed"; return; }
  told="$(sed -nE 's/.*(tot_send_msgs=[0-9]+, tot_recv_msgs=[0-9]+).*/\1/p' "$work/uclient" | tail -1)"
  [ "$told" = "tot_send_msgs=$expected, tot_recv_msgs=$expected" ] ||
    { grep -m3 ERROR "$work/uclient" || true; wrong "$what" "not every message came: $told, and $expected expected"; return; }
  if grep -vE "$allowed" "$work/uclient" | grep -E 'error [0-9]{3} |ERROR|[Ww]rong|[Cc]annot|unknown'; then
    wrong "$what" "it complains"
    return
  fi
  echo "turnutils_uclient, $what: $expected messages sent and received"
}

uclient "UDP, channels" -p "$port" 127.0.0.1
uclient "UDP, channels, with an echo" -e 127.0.0.1 -r "$echo_port" -p "$port" 127.0.0.1
uclient "UDP, channels with padding" -D -p "$port" 127.0.0.1
uclient "UDP, Send and Data" -s -p "$port" 127.0.0.1
uclient "UDP, more requests" -G -p "$port" 127.0.0.1
uclient "UDP, Send and Data, more requests" -s -G -p "$port" 127.0.0.1
uclient "UDP over IPv6, relays of IPv6" -x -p "$port" ::1
uclient "UDP over IPv6, relays of IPv4" -X -p "$port" ::1
uclient "UDP, relays of both families" -Z -p "$port" 127.0.0.1
uclient "UDP, relays of both families, more requests" -Z -G -p "$port" 127.0.0.1
uclient "TCP" -t -p "$port" 127.0.0.1
uclient "TCP, Send and Data" -t -s -p "$port" 127.0.0.1
uclient "TCP, relays of both families" -t -Z -p "$port" 127.0.0.1
uclient "TLS" -t -S -p "$((port + 1))" 127.0.0.1
uclient "TLS, with an echo" -t -S -e 127.0.0.1 -r "$echo_port" -p "$((port + 1))" 127.0.0.1
uclient "TLS, Send and Data" -t -S -s -p "$((port + 1))" 127.0.0.1
uclient "TLS, more requests" -t -S -G -p "$((port + 1))" 127.0.0.1

SSL_CERT_FILE="$work/cert.pem" PYTHONPATH="$python" python3 - "$secret" "$port" <<'PYTHON' || failed=1
import asyncio, base64, hashlib, hmac, sys, time
import aioice
from aioice.ice import TransportPolicy

secret, port = sys.argv[1], int(sys.argv[2])

def credentials(user):
    name = f"{int(time.time()) + 3600}:1-{user}"
    return name, base64.b64encode(hmac.new(secret.encode(), name.encode(), hashlib.sha1).digest()).decode()

async def pair(what, port, **way):
    ends = []
    for number, controls in ((1, True), (2, False)):
        name, password = credentials(number)
        ends.append(aioice.Connection(ice_controlling=controls, turn_server=("127.0.0.1", port), turn_username=name,
            turn_password=password, transport_policy=TransportPolicy.RELAY, **way))
    a, b = ends
    for end in ends:
        await end.gather_candidates()
        assert {it.type for it in end.local_candidates} == {"relay"}, end.local_candidates
    for one, other in ((a, b), (b, a)):
        for candidate in one.local_candidates:
            await other.add_remote_candidate(candidate)
        await other.add_remote_candidate(None)
        other.remote_username, other.remote_password = one.local_username, one.local_password
    await asyncio.gather(a.connect(), b.connect())
    for number in range(100):
        for one, other in ((a, b), (b, a)):
            await one.send(b"%d" % number)
            assert await asyncio.wait_for(other.recv(), 10) == b"%d" % number
    await asyncio.gather(a.close(), b.close())
    print(f"aioice, {what}: connected by relays alone, 100 messages each way")

async def main():
    await pair("UDP", port, turn_transport="udp")
    await pair("TCP", port, turn_transport="tcp")
    await pair("TLS", port + 1, turn_transport="tcp", turn_ssl=True)

asyncio.run(asyncio.wait_for(main(), 60))
PYTHON
exit "$failed"
