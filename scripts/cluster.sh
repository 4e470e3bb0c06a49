#!/bin/bash
# Starts NATS, PostgreSQL, two homes (one serves, one stands by) and two fronts on this machine, with the demo community. A process that ends is
# started again after a second, as a service manager does. Ctrl-C stops all of them. $1: the directory of their data.
#
# SLOTS=4: sites in four slots, whose homes run on two nodes; the demo community is in the first slot. Needs PostgreSQL.
# KITH_DATABASE=postgres://…: the homes are on this database. KITH_DATABASE=sqlite, or no PostgreSQL: one home with a SQLite file.
# Ports: NATS_PORT, HOME_HTTP, STANDBY_HTTP, FRONT_A, FRONT_B. NAME.pid and NAME.log are in the directory.
set -euo pipefail

scripts=$(cd "$(dirname "$0")" && pwd)
kith=${KITH_BIN:-kith}
nats=$("$scripts/nats.sh")
nats_port=${NATS_PORT:-4222}
home=${HOME_HTTP:-127.0.0.1:8080}
fronts=("${FRONT_A:-127.0.0.1:8081}" "${FRONT_B:-127.0.0.1:8082}")

umask 077
mkdir -p "$1"
data=$(cd "$1" && pwd)
# PostgreSQL runs as another user if this is root, and must reach its directory.
chmod 711 "$data"

keepers=()
stop() {
	trap - EXIT INT TERM
	# The last ones first, so that clients of fronts hear a farewell, and PostgreSQL outlives the homes.
	for ((at = ${#keepers[@]} - 1; at >= 0; at--)); do
		kill "${keepers[at]}" 2>/dev/null || true
		wait "${keepers[at]}" 2>/dev/null || true
	done
}
trap stop EXIT INT TERM

# Keeps a process running. $1: its name. The rest: its command.
keep() {
	local name=$1
	shift
	(
		pid=
		trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || true; wait; exit 0' TERM
		trap '' INT
		while :; do
			"$@" >>"$data/$name.log" 2>&1 &
			pid=$!
			echo $pid >"$data/$name.pid"
			wait $pid || true
			sleep 1
		done
	) &
	keepers+=($!)
}

# Waits until a command succeeds, for 60 s at most.
until_it() {
	local tries
	for ((tries = 0; tries < 600; tries++)); do
		"$@" 2>/dev/null && return 0
		sleep 0.1
	done
	return 1
}
answers() { (: <"/dev/tcp/${1%:*}/${1##*:}"); }
# Whether a page is there. A front passes the request on to the home.
has() {
	(
		exec 3<>"/dev/tcp/${1%:*}/${1##*:}"
		printf 'GET %s HTTP/1.1\r\nhost: %s\r\nconnection: close\r\n\r\n' "$2" "$1" >&3
		head -n 1 <&3 | grep -q ' 200 '
	)
}

secret=$data/cluster.secret
[ -s "$secret" ] || od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$secret"
password=$(sha256sum "$secret" | cut -c1-32)
printf 'listen: "127.0.0.1:%s"\nauthorization { user: kith, password: "%s" }\n' "$nats_port" "$password" >"$data/nats.conf"
export KITH_CLUSTER_NATS="nats://kith:$password@127.0.0.1:$nats_port" KITH_CLUSTER_SECRET_FILE=$secret

database=${KITH_DATABASE:-}
unset KITH_DATABASE
if [ "$database" = sqlite ]; then
	database=
elif [ -z "$database" ]; then
	if "$scripts/postgres.sh" >/dev/null; then
		keep postgres "$scripts/postgres.sh" serve "$data/pg"
		until_it test -S "$data/pg/.s.PGSQL.5432" || {
			echo "PostgreSQL does not start; see $data/postgres.log, or set KITH_DATABASE=sqlite" >&2
			exit 1
		}
		database="postgres://kith@${data//\//%2F}%2Fpg/postgres"
	else
		echo "Going on with a SQLite file, so no home stands by."
	fi
fi
slots=${SLOTS:-1}
if [ "$slots" -gt 1 ] && [ -z "$database" ]; then
	echo "Several slots need PostgreSQL." >&2
	exit 1
fi
export KITH_CLUSTER_SLOTS=$slots
homes=("$home")
of_homes=()
if [ -n "$database" ]; then
	homes+=("${STANDBY_HTTP:-127.0.0.1:8083}")
	# Both homes need the same files.
	of_homes=(KITH_DATABASE="$database" KITH_FILES_FOLDER="$data/files")
fi

keep nats "$nats" -c "$data/nats.conf"
names=(home standby)
[ "$slots" = 1 ] || names=(homes-a homes-b)
for at in "${!homes[@]}"; do
	name=${names[at]}
	keep "$name" env "${of_homes[@]}" KITH_CLUSTER_NAME="$name" "$kith" demo --data "$data/$name" --http "${homes[at]}"
	until_it answers "${homes[at]}" || true
done
for at in 0 1; do
	keep "front-$at" "$kith" serve --role front --data "$data/front-$at" --http "${fronts[at]}"
done
for node in "${fronts[@]}"; do
	until_it has "$node" / || { echo "the node at $node does not start; see the logs in $data" >&2; exit 1; }
done

echo "The cluster runs. Open these in two browsers, and choose two members:"
echo
for front in "${fronts[@]}"; do echo "  http://$front"; done
echo
echo "The processes: $(cd "$data" && echo *.pid | sed 's/\.pid//g'). Kill one while you talk, e.g.:"
echo
echo "  kill -9 \$(cat $data/${names[0]}.pid)"
echo
echo "It starts again after a second. Logs: $data/*.log. The cluster: $kith cluster status --data $data/${names[0]} --watch"
echo "Stop all with Ctrl-C."
wait
