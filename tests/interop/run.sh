#!/usr/bin/env bash
# Foreign XMPP clients against a node of their own, on loopback: `make interop`. What they need is in README.md.
# KITH_BIN: the binary. CLIENTS: which of the clients; default: all. THROUGH=front: each node is a home, and clients connect with a front.
set -euo pipefail
cd "$(dirname "$0")"
kith=${KITH_BIN:?set KITH_BIN to the kith binary}
# slixmpp blocks Tom, who is no contact any more: clients that need one come before.
clients=${CLIENTS:-tokio stanza_call slixmpp slixmpp_tls aioxmpp nbxmpp xmppjs xmppjs_tls mellium stanza strophe converse profanity switching components federation}
if [ "${THROUGH:-}" = front ]; then
  KITH_HOME_BIN=$(realpath "$kith")
  export KITH_HOME_BIN
  kith=$PWD/through_front.sh
fi
scratch=$(mktemp -d)
nodes=
trap 'kill $nodes 2>/dev/null || true; rm -rf "$scratch"' EXIT

venv=${XDG_CACHE_HOME:-$HOME/.cache}/kith/interop
# Python's clients, and the helper of Profanity. Without them, Node and the binary are enough.
if [[ " $clients " =~ \ (slixmpp|slixmpp_tls|aioxmpp|profanity|components|federation)\  ]] && ! cmp -s requirements.txt "$venv/installed.txt"; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --require-virtualenv -r requirements.txt
  cp requirements.txt "$venv/installed.txt"
fi
if ! cmp -s package-lock.json node_modules/installed.json; then
  ../../scripts/node.sh
  npm ci --ignore-scripts --no-fund --no-audit
  cp package-lock.json node_modules/installed.json
fi

# A free port for each listener: the kernel chooses, and the node takes it a moment later.
port() { node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); })'; }
# Starts a node: the name of its data, then its settings.
start() {
  local name=$1
  shift
  env "$@" "$kith" demo --data "$scratch/$name" >"$scratch/$name.log" 2>&1 &
  nodes+=" $!"
  for _ in $(seq 100); do
    grep -qs "is running" "$scratch/$name.log" && return
    kill -0 "$!" || break
    sleep 0.2
  done
  cat "$scratch/$name.log"
  exit 1
}
password() { "$kith" user set-password --site demo "$1" --data "$scratch/${2:-plain}" | sed -n 's/^password //p'; }

xmpp=$(port) web=$(port)
start plain KITH_XMPP_LISTEN="127.0.0.1:$xmpp" KITH_XMPP_ALLOW_PLAIN=true KITH_HTTP="127.0.0.1:$web"
anna=$(password anna)
tom=$(password tom)
token=$("$kith" token --site demo --user tom --data "$scratch/plain")

# A node as on the Internet: with TLS, and with a certificate that names the domain.
if [[ " $clients " =~ \ (slixmpp_tls|xmppjs_tls|mellium)\  ]]; then
  starttls=$(port) tls=$(port) https=$(port)
  cert=$scratch/cert.pem key=$scratch/key.pem
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=demo \
    -addext subjectAltName=DNS:demo,DNS:localhost -keyout "$key" -out "$cert" 2>/dev/null
  start encrypted KITH_HTTP="127.0.0.1:$(port)" KITH_HTTPS="127.0.0.1:$https" KITH_TLS_CERT="$cert" KITH_TLS_KEY="$key" \
    KITH_XMPP_LISTEN="127.0.0.1:$starttls" KITH_XMPP_LISTEN_TLS="127.0.0.1:$tls"
  secret=$(password anna encrypted)
  other_secret=$(password tom encrypted)
fi

# A node with a component.
if [[ " $clients " =~ \ components\  ]]; then
  clients_of_bot=$(port) components=$(port)
  echo "bot.test a-secret-of-24-characters demo" >"$scratch/components"
  start bot KITH_HTTP="127.0.0.1:$(port)" KITH_XMPP_LISTEN="127.0.0.1:$clients_of_bot" KITH_XMPP_ALLOW_PLAIN=true \
    KITH_XMPP_COMPONENT_LISTEN="127.0.0.1:$components" KITH_XMPP_COMPONENTS="$scratch/components"
  "$kith" site set demo federation.on=true 'federation.only=["bot.test"]' --data "$scratch/bot" >/dev/null
  bot_anna=$(password anna bot)
  # The node reads the settings a moment later.
  sleep 1
fi

python() { "$venv/bin/python" "$1_client.py" 127.0.0.1 "$xmpp" demo anna "$anna" tom "$tom"; }
# Who has been blocked once is no contact any more: Converse.js chats with another contact.
js() { node "$1.mjs" "$xmpp" "$web" demo anna "$anna" "${2:-tom}" "$token"; }

failed=
for client in $clients; do
  echo "--- $client"
  case $client in
    slixmpp | aioxmpp) python "$client" || failed+=" $client" ;;
    slixmpp_tls) "$venv/bin/python" slixmpp_tls.py 127.0.0.1 "$starttls" "$tls" demo anna "$secret" "$cert" || failed+=" $client" ;;
    xmppjs_tls)
      NODE_EXTRA_CA_CERTS=$cert node xmppjs_tls.mjs "$starttls" "$tls" "$https" demo anna "$secret" || failed+=" $client" ;;
    mellium)
      (cd mellium && go run . "127.0.0.1:$starttls" demo "$cert" anna "$secret" tom "$other_secret") || failed+=" $client" ;;
    # It has a lock file and a target folder of its own.
    tokio)
      (cd tokio && CARGO_TARGET_DIR="$venv/tokio" cargo run --quiet --locked -- 127.0.0.1 "$xmpp" demo anna "$anna" tom "$tom") || failed+=" $client" ;;
    # Debian's Python has PyGObject, a virtual environment would have to compile it.
    nbxmpp) /usr/bin/python3 nbxmpp_client.py 127.0.0.1 "$xmpp" "$web" demo anna "$anna" tom "$tom" || failed+=" $client" ;;
    xmppjs | stanza | strophe) js "$client" || failed+=" $client" ;;
    stanza_call) CHROMIUM=$(../../scripts/chromium.sh) CHROMIUM_SHELL=$(../../scripts/chromium.sh shell) js stanza_call || failed+=" $client" ;;
    converse) CHROMIUM=$(../../scripts/chromium.sh) CHROMIUM_SHELL=$(../../scripts/chromium.sh shell) js converse mei || failed+=" $client" ;;
    components)
      "$venv/bin/python" components_client.py 127.0.0.1 "$clients_of_bot" "$components" demo anna "$bot_anna" \
        bot.test a-secret-of-24-characters || failed+=" $client" ;;
    # It starts a node of its own, because it bans a member.
    switching)
      CHROMIUM=$(../../scripts/chromium.sh) CHROMIUM_SHELL=$(../../scripts/chromium.sh shell) KITH_BIN=$kith node switching.mjs || failed+=" $client" ;;
    federation) ./federation.sh "$kith" "$venv/bin/python" || failed+=" $client" ;;
    profanity) ./profanity.sh 127.0.0.1 "$xmpp" demo anna "$anna" tom "$tom" "$venv/bin/python" || failed+=" $client" ;;
    *) echo "no such client"; exit 2 ;;
  esac
done
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
echo "--- all is well"
