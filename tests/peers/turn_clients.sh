#!/usr/bin/env bash
# The clients of others against kith's STUN and TURN: turnutils_uclient of Debian's coturn, and aioice of PyPI.
#
#   KITH_BIN=…/kith tests/peers/turn_clients.sh
#
# Says a line for each way of asking, and ends with 1 at the first that does not run clean: every message must come back. coturn is unpacked
# into the cache, aioice is put into a folder there; nothing is installed.
set -euo pipefail

kith="${KITH_BIN:?a build of kith}"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/kith"

say() { echo "$*" >&2; }

unpack() { # packages
  local folder="$cache/coturn"
  mkdir -p "$folder/packages"
  if [ ! -e "$folder/done" ]; then
    say "unpacking $* into $folder"
    (cd "$folder/packages" && { apt-get download "$@" || { apt-get update -qq && apt-get download "$@"; }; }) >&2
    for package in "$folder/packages"/*.deb; do dpkg -x "$package" "$folder"; done
    touch "$folder/done"
  fi
  PATH="$folder/usr/bin:$PATH"
  LD_LIBRARY_PATH="$(dirname "$(find "$folder/usr/lib" -name 'libevent_core*' -print -quit)")"
  export PATH LD_LIBRARY_PATH
}

command -v turnutils_uclient >/dev/null || unpack coturn libevent-core-2.1-7 libevent-extra-2.1-7 libevent-openssl-2.1-7 \
  libevent-pthreads-2.1-7 libhiredis0.14 libmariadb3
python="$cache/aioice"
[ -d "$python/aioice" ] || python3 -m pip install --quiet --target "$python" aioice >&2

work="$(mktemp -d)"
pids=()
finish() {
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; done
  rm -rf "$work"
}
trap finish EXIT

secret=0123456789abcdef0123456789abcdef
echo "$secret" >"$work/secret"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost \
  -keyout "$work/key.pem" -out "$work/cert.pem" 2>/dev/null
port=$((10000 + RANDOM % 9000))
cat >"$work/kith.toml" <<END
[calls]
listen = "127.0.0.1:$port, [::1]:$port"
listen_tls = "127.0.0.1:$((port + 1))"
turn_secret_file = "$work/secret"
peers = "127.0.0.0/8, ::1"
ports = "20000-65535"
relays_per_user = 0
kbit_per_user = 0
END
XDG_RUNTIME_DIR="$work" "$kith" demo --data "$work/data" --config "$work/kith.toml" --http 127.0.0.1:0 --https 127.0.0.1:0 \
  --tls-cert "$work/cert.pem" --tls-key "$work/key.pem" --log info >"$work/out" 2>"$work/log" &
pids+=($!)
for _ in $(seq 100); do
  grep -q 'is running' "$work/out" && break
  kill -0 "${pids[0]}" || { cat "$work/log" >&2; exit 1; }
  sleep 0.1
done

# Two clients of each speak with each other through two relays, 50 messages from each of them.
uclient() { # what, flags
  local what=$1
  shift
  timeout 60 turnutils_uclient -W "$secret" -u clients -y -n 50 -z 5 -l 170 "$@" >"$work/uclient" 2>&1 ||
    { echo "turnutils_uclient, $what: it failed"; tail -30 "$work/uclient"; return 1; }
  grep -q 'tot_send_msgs=\([0-9]*\), tot_recv_msgs=\1$' <(sed -nE 's/.*(tot_send_msgs=[0-9]+, tot_recv_msgs=[0-9]+).*/\1/p' "$work/uclient" | tail -1) ||
    { echo "turnutils_uclient, $what: not every message came"; tail -30 "$work/uclient"; return 1; }
  if grep -qiE 'error [0-9]{3}|wrong|cannot' "$work/uclient"; then
    echo "turnutils_uclient, $what: it complains"; grep -iE 'error|wrong|cannot' "$work/uclient" | head; return 1
  fi
  echo "turnutils_uclient, $what: $(sed -nE 's/.*(tot_send_msgs=[0-9]+, tot_recv_msgs=[0-9]+).*/\1/p' "$work/uclient" | tail -1)"
}

uclient "UDP, channels" -c -m 4 -p "$port" 127.0.0.1 || failed=1
uclient "UDP, Send and Data" -c -s -m 4 -p "$port" 127.0.0.1 || failed=1
uclient "UDP, more requests" -c -G -m 4 -p "$port" 127.0.0.1 || failed=1
uclient "UDP, IPv6" -c -x -m 4 -p "$port" ::1 || failed=1
uclient "TCP" -c -t -m 4 -p "$port" 127.0.0.1 || failed=1
uclient "TLS" -c -t -S -m 4 -p "$((port + 1))" 127.0.0.1 || failed=1

PYTHONPATH="$python" python3 - "$secret" "$port" <<'END'
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

asyncio.run(asyncio.wait_for(main(), 60))
END
exit "${failed:-0}"
