#!/usr/bin/env bash
# A node federates with Debian's Prosody and ejabberd, on loopback: each server has an address of 127.0.0.0/8 of its own, with port 5269,
# because a domain without SRV records has its server there. Arguments: the binary, Python with slixmpp.
set -euo pipefail
cd "$(dirname "$0")"
kith=$1 python=$2
scratch=$(mktemp -d)
servers=
cleanup() {
  for server in $servers; do kill "$server" 2>/dev/null || true; done
  for server in $servers; do wait "$server" 2>/dev/null || true; done
  [ -n "${KEEP_LOGS:-}" ] && cp -r "$scratch" "$KEEP_LOGS" || true
  rm -rf "$scratch"
}
trap cleanup EXIT

kith_ip=127.0.5.1 prosody_ip=127.0.5.2 ejabberd_ip=127.0.5.3
cat >"$scratch/hosts" <<HOSTS
$kith_ip kith.test
$prosody_ip prosody.test
$ejabberd_ip ejabberd.test
HOSTS

# An authority of our own, and a certificate for each domain.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=authority \
  -keyout "$scratch/ca.key" -out "$scratch/ca.pem" 2>/dev/null
certificate() {
  mkdir -p "$scratch/certs/$1"
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$1" \
    -keyout "$scratch/certs/$1/privkey.pem" -out "$scratch/$1.csr" 2>/dev/null
  openssl x509 -req -in "$scratch/$1.csr" -CA "$scratch/ca.pem" -CAkey "$scratch/ca.key" -CAcreateserial -days 2 \
    -extfile <(printf 'subjectAltName=DNS:%s\nextendedKeyUsage=%s\n' "$1" "$2") \
    -out "$scratch/certs/$1/fullchain.pem" 2>/dev/null
}
certificate kith.test serverAuth,clientAuth
certificate prosody.test serverAuth,clientAuth
# As public authorities issue them now: not for clients, so ejabberd and the node prove this domain by dialback.
certificate ejabberd.test serverAuth

# --- the node
KITH_HTTP="$kith_ip:8080" KITH_HTTPS="$kith_ip:8443" KITH_TLS_CERT="$scratch/certs/kith.test/fullchain.pem" KITH_TLS_KEY="$scratch/certs/kith.test/privkey.pem" \
  KITH_XMPP_LISTEN="$kith_ip:5222" KITH_XMPP_ALLOW_PLAIN=true KITH_XMPP_S2S_LISTEN="$kith_ip:5269" \
  KITH_XMPP_S2S_AUTHORITY="$scratch/ca.pem" \
  KITH_XMPP_S2S_HOSTS="prosody.test=$prosody_ip:5269, ejabberd.test=$ejabberd_ip:5269, down.test=127.0.5.9:5269" \
  KITH_LOG_LEVEL=info,xmpp=debug "$kith" demo --data "$scratch/data" >"$scratch/kith.log" 2>&1 &
servers+=" $!"
for _ in $(seq 100); do grep -qs "is running" "$scratch/kith.log" && break; sleep 0.1; done
grep -qs "is running" "$scratch/kith.log" || { cat "$scratch/kith.log"; exit 1; }
"$kith" site domain demo kith.test --data "$scratch/data" >/dev/null
"$kith" site set demo federation.on=true --data "$scratch/data" >/dev/null
password() { "$kith" user set-password --site demo "$1" --data "$scratch/data" | sed -n 's/^password //p'; }
anna=$(password anna)
tom=$(password tom)

# --- Prosody
mkdir -p "$scratch/prosody"
cat >"$scratch/prosody.cfg.lua" <<LUA
run_as_root = true
data_path = "$scratch/prosody"
pidfile = "$scratch/prosody.pid"
interfaces = { "$prosody_ip" }
modules_enabled = { "roster", "saslauth", "tls", "dialback", "disco", "ping", "s2s", "s2s_auth_certs", "carbons", "presence", "message", "iq", "s2s_bidi" }
allow_unencrypted_plain_auth = true
c2s_require_encryption = false
s2s_secure_auth = true
authentication = "internal_plain"
unbound = { resolvconf = false; hoststxt = "$scratch/hosts" }
log = { debug = "$scratch/prosody.log" }
ssl = { cafile = "$scratch/ca.pem"; certificate = "$scratch/certs/prosody.test/fullchain.pem"; key = "$scratch/certs/prosody.test/privkey.pem" }
VirtualHost "prosody.test"
LUA
prosodyctl --root --config "$scratch/prosody.cfg.lua" register romeo prosody.test secret >/dev/null 2>&1 || {
  mkdir -p "$scratch/prosody/prosody%2etest/accounts"
  echo 'return { ["password"] = "secret"; };' >"$scratch/prosody/prosody%2etest/accounts/romeo.dat"
}
prosody -F --config "$scratch/prosody.cfg.lua" >"$scratch/prosody.out" 2>&1 &
servers+=" $!"

# --- ejabberd, without its script: that one changes to another user
mkdir -p "$scratch/ejabberd"
cat "$scratch/certs/ejabberd.test/fullchain.pem" "$scratch/certs/ejabberd.test/privkey.pem" >"$scratch/ejabberd/cert.pem"
cat >"$scratch/ejabberd/ejabberd.yml" <<YML
hosts: [ejabberd.test]
loglevel: debug
ca_file: "$scratch/ca.pem"
certfiles: ["$scratch/ejabberd/cert.pem"]
s2s_use_starttls: required
s2s_cafile: "$scratch/ca.pem"
auth_method: internal
auth_password_format: plain
default_db: mnesia
listen:
  - {port: 5222, ip: "$ejabberd_ip", module: ejabberd_c2s, starttls: false}
  - {port: 5269, ip: "$ejabberd_ip", module: ejabberd_s2s_in}
acl: {local: {user_regexp: ""}}
access_rules: {local: [{allow: local}], c2s: [{allow: all}], register: [{allow: all}]}
modules: {mod_disco: {}, mod_ping: {}, mod_roster: {}, mod_s2s_dialback: {}, mod_caps: {}}
YML
# Erlang asks our name server alone. With a `resolv_conf`, it would return to the machine's own.
cat >"$scratch/ejabberd/inetrc" <<INETRC
{resolv_conf, ""}.
{hosts_file, ""}.
{lookup, [dns]}.
{nameserver, {127,0,5,3}, 5300}.
INETRC
"$python" names.py "$ejabberd_ip" 5300 "$scratch/hosts" &
servers+=" $!"
ebin=$(compgen -G "/usr/lib/*/ejabberd-*/ebin" | head -1)
(cd "$scratch/ejabberd" && EJABBERD_CONFIG_PATH="$scratch/ejabberd/ejabberd.yml" \
  EJABBERD_LOG_PATH="$scratch/ejabberd/ejabberd.log" SPOOL_DIR="$scratch/ejabberd" HOME="$scratch/ejabberd" ERL_INETRC="$scratch/ejabberd/inetrc" \
  exec erl -noinput -pa "$ebin" -mnesia dir "\"$scratch/ejabberd/mnesia\"" -s ejabberd \
  -eval 'application:ensure_all_started(ejabberd), ejabberd_auth:try_register(<<"juliet">>, <<"ejabberd.test">>, <<"secret">>).' \
  >"$scratch/ejabberd/out" 2>&1) &
servers+=" $!"

wait_for() {
  for _ in $(seq 200); do "$python" -c "import socket; socket.create_connection(('$1', $2), 1)" 2>/dev/null && return; sleep 0.2; done
  echo "no server at $1:$2"
  return 1
}
wait_for "$prosody_ip" 5222 || { cat "$scratch/prosody.out" "$scratch/prosody.log"; exit 1; }
wait_for "$ejabberd_ip" 5222 || { cat "$scratch/ejabberd/out" "$scratch/ejabberd/ejabberd.log"; exit 1; }
sleep 1
"$python" federation_client.py "$kith_ip" "$anna" "$tom" "$prosody_ip" "$ejabberd_ip" || {
  tail -n 60 "$scratch/kith.log"
  exit 1
}
