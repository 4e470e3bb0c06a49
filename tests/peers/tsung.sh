#!/usr/bin/env bash
# The mix of Erlang'07 (20 % inactive, 60 % idle, 20 % active members) by Tsung, against kith and Debian's ejabberd, in turn on this machine.
#
#   KITH_BIN=…/release/kith tests/peers/tsung.sh [--json]
#
# Prints a table for a page of docs, and on stderr what it does. KITH_BIN: a release build. ROUNDS [3], one server after the other in each
# round. USERS [6000] arrive at RATE [150] per second; each stays for 120 s after its login. An idle member changes its presence every
# 60 s, an active one writes to a random member who is online every 10 s. Members log in with PLAIN and without TLS, with an empty roster:
# in Kith with a token of the site, in ejabberd with a password that it keeps in plain text, so that neither derives keys.
# Kith archives each message; ejabberd runs without an archive.
# `authentication` is a Tsung transaction: SASL, the second stream, bind and session.
# `open` counts the server's sockets 20 s after the last arrival. Memory is the growth of RSS for each of them at that time. CPU is the
# server's until the last session has ended.
# Missing packages are installed as root, without starting their servers.
set -euo pipefail

kith="${KITH_BIN:?the release build of kith to measure}"
rounds="${ROUNDS:-3}" users="${USERS:-6000}" rate="${RATE:-150}"
format=text
[ "${1:-}" = --json ] && format=json
here="$(cd "$(dirname "$0")" && pwd)"
ramp=$(((users + rate - 1) / rate))
stay=120

say() { echo "$*" >&2; }

missing=()
for package in tsung ejabberd jq python3; do dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package"); done
if [ "${#missing[@]}" -gt 0 ]; then
  [ "$(id -u)" = 0 ] || { say "missing; say: sudo apt-get install ${missing[*]}"; exit 1; }
  policy=/usr/sbin/policy-rc.d
  [ -e "$policy" ] || { printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy"; made_policy=yes; }
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2 || { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >&2
  [ -z "${made_policy:-}" ] || rm "$policy"
fi

work="$(mktemp -d)"
pid=
finish() {
  [ -z "$pid" ] || { kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; } || true
  rm -rf "$work"
}
trap finish EXIT

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
await() { # a command, for 60 s
  for _ in $(seq 600); do
    "$@" && return
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  say "$name does not start"
  cat "$work/$name"*.log >&2
  exit 1
}
listens() { ss -Hltn "sport = :$port" | grep -q .; }

# Refused while the node makes its database.
new_secret() { XDG_RUNTIME_DIR="$work" "$kith" site rotate-secret demo --data "$work/kith" >"$work/secret" 2>"$work/kith.secret.log"; }

start_kith() {
  name=kith domain=demo port="$(free_port)"
  {
    echo "[limits]"
    for limit in send_burst send_per_minute command_burst command_per_minute site_sends_per_second requests_per_user \
      requests_per_address requests_per_site; do echo "$limit = 0"; done
    echo "[xmpp]"
    echo "listen = \"127.0.0.1:$port\""
    echo "allow_plain = true"
  } >"$work/kith.toml"
  XDG_RUNTIME_DIR="$work" "$kith" demo --strangers --data "$work/kith" --config "$work/kith.toml" --http 127.0.0.1:0 --log warn \
    >"$work/kith.log" 2>&1 &
  pid=$!
  await listens
  await new_secret
  python3 - "$users" "$work/secret" >"$work/users.csv" <<'END'
import base64, hashlib, hmac, re, sys, time

count, file = int(sys.argv[1]), sys.argv[2]
secret = re.search(r"secret\s+(\S+)", open(file).read()).group(1).encode()
text = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode()
header = text(b'{"alg":"HS256","typ":"JWT"}')
expires = int(time.time()) + 7200
for number in range(count):
    body = header + "." + text(b'{"sub":"u%d","name":"u%d","exp":%d}' % (number, number, expires))
    print("u%d;%s.%s" % (number, body, text(hmac.digest(secret, body.encode(), "sha256"))))
END
}

start_ejabberd() {
  name=ejabberd domain=demo port="$(free_port)"
  mkdir "$work/ejabberd"
  cat >"$work/ejabberd/ejabberd.yml" <<END
hosts: [$domain]
loglevel: warning
listen:
  - {port: $port, ip: "127.0.0.1", module: ejabberd_c2s, access: all, shaper: none, max_stanza_size: 262144}
auth_method: internal
auth_password_format: plain
certfiles: []
modules:
  mod_roster: {}
  mod_disco: {}
  mod_offline: {}
  mod_ping: {}
  mod_stream_mgmt: {}
  mod_client_state: {}
  mod_caps: {}
END
  cat >"$work/ejabberd/start.erl" <<END
-module(start).
-export([run/0]).
run() ->
    {ok, _} = application:ensure_all_started(ejabberd),
    [ok = ejabberd_auth:try_register(<<"u", (integer_to_binary(N))/binary>>, <<"$domain">>, <<"secret">>) || N <- lists:seq(0, $users - 1)],
    ok = file:write_file("$work/ejabberd/ready", <<>>).
END
  erlc -o "$work/ejabberd" "$work/ejabberd/start.erl"
  local library
  library="$(dirname "$(find /usr/lib -path '*/ejabberd-*/ebin/ejabberd.app' -print -quit)")"
  EJABBERD_CONFIG_PATH="$work/ejabberd/ejabberd.yml" EJABBERD_LOG_PATH="$work/ejabberd.log" SPOOL_DIR="$work/ejabberd" HOME="$work/ejabberd" \
    erl +K true +P 250000 +sbwt none -noinput -pa "$library" "$work/ejabberd" -mnesia dir "\"$work/ejabberd/mnesia\"" -s start run \
    >"$work/ejabberd.out.log" 2>&1 &
  pid=$!
  await test -e "$work/ejabberd/ready"
  await listens
  for number in $(seq 0 $((users - 1))); do echo "u$number;secret"; done >"$work/users.csv"
}

plan() { # writes the plan for the server that runs
  local sessions="$work/sessions" kind share
  for kind in inactive:20 idle:60 active:20; do
    share="${kind#*:}" kind="${kind%:*}"
    cat <<END
    <session probability="$share" name="$kind" type="ts_jabber">
      <setdynvars sourcetype="file" fileid="users" delimiter=";" order="iter"><var name="username"/><var name="password"/></setdynvars>
      <request subst="true"><jabber type="connect" ack="local"><xmpp_authenticate username="%%_username%%" passwd="%%_password%%"/></jabber></request>
      <transaction name="authentication">
        <request><jabber type="auth_sasl" ack="local"/></request>
        <request><jabber type="connect" ack="local"/></request>
        <request><jabber type="auth_sasl_bind" ack="local"/></request>
        <request><jabber type="auth_sasl_session" ack="local"/></request>
      </transaction>
      <request><jabber type="presence:initial" ack="no_ack"/></request>
END
    case $kind in
      inactive) echo "      <thinktime value=\"$stay\"/>" ;;
      idle)
        for show in away chat; do
          echo "      <thinktime value=\"$((stay / 2))\"/>"
          echo "      <request><jabber type=\"presence:broadcast\" show=\"$show\" status=\"here\" ack=\"no_ack\"/></request>"
        done ;;
      active)
        cat <<END
      <for from="1" to="$((stay / 10))" var="turn">
        <thinktime min="8" max="12" random="true"/>
        <request><jabber type="chat" ack="no_ack" size="100" destination="online"/></request>
      </for>
END
        ;;
    esac
    echo "      <request><jabber type=\"close\" ack=\"no_ack\"/></request>"
    echo "    </session>"
  done >"$sessions"
  sed -e "s|@port@|$port|; s|@domain@|$domain|; s|@users@|$work/users.csv|; s|@most@|$((2 * ramp + 10))|; s|@count@|$users|; s|@rate@|$rate|" \
    -e "/@sessions@/{r $sessions" -e 'd}' "$here/tsung.xml" >"$work/plan.xml"
}

cpu_ms() { awk -v hz="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) * 1000 / hz }' "/proc/$pid/stat"; }
resident() { awk '/^VmRSS/ { print $2 * 1024 }' "/proc/$pid/status"; }
open() { ss -Htn state established "sport = :$port" | wc -l; }

measure() {
  plan
  local before_cpu before_memory at_peak_cpu at_peak_memory opened tsung log
  before_cpu="$(cpu_ms)" before_memory="$(resident)"
  mkdir "$work/tsung"
  (cd "$work/tsung" && HOME="$work/tsung" tsung -f "$work/plan.xml" -l "$work/tsung/" start >"$work/tsung.log" 2>&1) &
  tsung=$!
  # From the first connection on.
  for _ in $(seq 300); do [ "$(open)" = 0 ] || break; sleep 0.1; done
  sleep $((ramp + 20))
  opened="$(open)" at_peak_cpu="$(cpu_ms)" at_peak_memory="$(resident)"
  say "$name: $opened open"
  wait "$tsung" || { cat "$work/tsung.log" >&2; exit 1; }
  log="$(find "$work/tsung" -name tsung.log -print -quit)"
  jq -nc --arg name "$name" --argjson open "$opened" --argjson users "$users" \
    --argjson ramp_cpu "$(python3 -c "print($at_peak_cpu - $before_cpu)")" --argjson cpu "$(python3 -c "print($(cpu_ms) - $before_cpu)")" \
    --argjson memory "$((at_peak_memory - before_memory))" --argjson tsung "$(figures "$log")" \
    '{name: $name, open: $open, missing: ($users - $open), memory: ($memory / ([$open, 1] | max)), ramp_cpu_ms: ($ramp_cpu / $users),
      cpu_s: ($cpu / 1000)} + $tsung' >>"$work/samples"
  rm -rf "$work/tsung"
}

figures() { # of a log of Tsung, as JSON
  python3 - "$1" <<'END'
import json, sys

count, total, longest, errors, sent = 0, 0.0, 0.0, 0, 0
for line in open(sys.argv[1]):
    words = line.split()
    if words[:2] == ["stats:", "tr_authentication"]:
        count, total = count + int(words[2]), total + int(words[2]) * float(words[3])
        longest = max(longest, float(words[5]))
    elif words[:1] == ["stats:"] and words[1].startswith("error"):
        errors += int(words[2])
    elif words[:2] == ["stats:", "request"]:
        sent += int(words[2])
print(json.dumps({"authenticated": count, "auth_mean_ms": total / max(count, 1), "auth_longest_ms": longest, "errors": errors, "requests": sent}))
END
}

for round in $(seq "$rounds"); do
  order=(kith ejabberd)
  [ $((round % 2)) = 1 ] || order=(ejabberd kith)
  for server in ${SERVERS:-${order[@]}}; do
    say "round $round of $rounds: $server"
    "start_$server"
    measure
    kill "$pid"
    wait "$pid" 2>/dev/null || true
    pid=
    rm -rf "$work/kith" "$work/ejabberd"
  done
done

if [ "$format" = json ]; then jq -s . "$work/samples"; exit; fi
jq -rs --arg rounds "$rounds" --arg users "$users" --arg rate "$rate" --arg ejabberd "$(dpkg-query -W -f '${Version}' ejabberd)" \
  --arg tsung "$(dpkg-query -W -f '${Version}' tsung)" '
  def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
  def shown($digits): (. * pow(10; $digits) | round) / pow(10; $digits) | tostring;
  def spread($digits): if length == 0 then "–" else "\(median | shown($digits)) (\(min | shown($digits))–\(max | shown($digits)))" end;
  . as $all | def of($name; $key): [$all[] | select(.name == $name) | .[$key]];
  "Tsung \($tsung), ejabberd \($ejabberd), \($users) users at \($rate)/s, \($rounds) rounds. Median (least–most).\n",
  "| | kith | ejabberd |", "|---|---|---|",
  (["open 20 s after the last arrival", "open", 0], ["authenticated", "authenticated", 0], ["authentication, mean, ms", "auth_mean_ms", 1],
   ["authentication, longest mean of 10 s, ms", "auth_longest_ms", 0], ["errors of Tsung", "errors", 0],
   ["server CPU until then, ms each", "ramp_cpu_ms", 2], ["server CPU of the run, s", "cpu_s", 1], ["resident memory, B each", "memory", 0]
   | . as [$what, $key, $digits] | "| \($what) | \(of("kith"; $key) | spread($digits)) | \(of("ejabberd"; $key) | spread($digits)) |")
' "$work/samples"
