#!/usr/bin/env bash
# Profanity in a terminal, with slixmpp on the other side: sign-in, a message in each direction.
# Arguments: host, port, domain, user and password twice, and a Python with slixmpp.
set -euo pipefail
cd "$(dirname "$0")"
host=$1 port=$2 domain=$3 user=$4 password=$5 other=$6 other_password=$7 python=$8
command -v profanity >/dev/null && command -v tmux >/dev/null || { echo "needs profanity and tmux (apt-get install)"; exit 1; }
export HOME XDG_CONFIG_HOME XDG_DATA_HOME
HOME=$(mktemp -d)
XDG_CONFIG_HOME=$HOME/config XDG_DATA_HOME=$HOME/data
session=kith-profanity-$$
trap 'tmux -L "$session" kill-server 2>/dev/null || true; rm -rf "$HOME"' EXIT

tmux -L "$session" new-session -d -x 120 -y 40 profanity
type() { tmux -L "$session" send-keys -l "$1"; tmux -L "$session" send-keys Enter; }
screen() { tmux -L "$session" capture-pane -p; }
sees() {
  for _ in $(seq 100); do
    if screen | grep -q -- "$2"; then echo "ok      $1"; return; fi
    sleep 0.1
  done
  echo "FAILED  $1"; screen; exit 1
}

sees "starts" "Profanity"
sleep 1
type "/connect $user@$domain server $host port $port tls disable"
sees "asks for the password" "assword"
type "$password"
sees "signs in" "logged in successfully"
type "/msg $other@$domain Greetings from the terminal"
"$python" echo_once.py "$host" "$port" "$other@$domain" "$other_password" "Greetings from the terminal" "And back" &
echo=$!
wait "$echo" && echo "ok      its message arrives" || { echo "FAILED  its message arrives"; exit 1; }
sees "an answer arrives" "And back"
