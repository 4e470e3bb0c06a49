#!/bin/bash
# Starts NATS, a home and two fronts on this machine, and stops all of them at Ctrl-C. $1: the directory of their data.
# KITH_DATABASE=postgres://…: the home is on this database, and a second home stands by.
set -euo pipefail

data=$1
kith=${KITH_BIN:-kith}
nats=$("$(dirname "$0")/nats.sh")
nats_port=${NATS_PORT:-4222}
home=${HOME_HTTP:-127.0.0.1:8080}
fronts=("${FRONT_A:-127.0.0.1:8081}" "${FRONT_B:-127.0.0.1:8082}")

umask 077
mkdir -p "$data"
homes=("$home")
if [ -n "${KITH_DATABASE:-}" ]; then
	homes+=("${STANDBY_HTTP:-127.0.0.1:8083}")
	# Both homes need the same files.
	KITH_FILES_FOLDER=$(cd "$data" && pwd)/files
	export KITH_FILES_FOLDER
fi
secret=$data/cluster.secret
[ -s "$secret" ] || od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$secret"
password=$(sha256sum "$secret" | cut -c1-32)
printf 'listen: "127.0.0.1:%s"\nauthorization { user: kith, password: "%s" }\n' "$nats_port" "$password" >"$data/nats.conf"
export KITH_CLUSTER_NATS="nats://kith:$password@127.0.0.1:$nats_port" KITH_CLUSTER_SECRET_FILE=$secret

children=()
stop() {
	trap - EXIT INT TERM
	# Fronts first, so that their clients hear a farewell.
	for ((at = ${#children[@]} - 1; at >= 0; at--)); do
		kill "${children[at]}" 2>/dev/null || true
		wait "${children[at]}" 2>/dev/null || true
	done
}
trap stop EXIT INT TERM

"$nats" -c "$data/nats.conf" >"$data/nats.log" 2>&1 &
children+=($!)
names=(home standby)
for at in "${!homes[@]}"; do
	name=${names[at]}
	KITH_CLUSTER_NAME=$name "$kith" demo --data "$data/$name" --http "${homes[at]}" >"$data/$name.log" 2>&1 &
	children+=($!)
done
for at in 0 1; do
	"$kith" serve --role front --data "$data/front-$at" --http "${fronts[at]}" >"$data/front-$at.log" 2>&1 &
	children+=($!)
done

for node in "${homes[@]}" "${fronts[@]}"; do
	for _ in $(seq 100); do
		(: <"/dev/tcp/${node%:*}/${node##*:}") 2>/dev/null && continue 2
		sleep 0.1
	done
	echo "the node at $node does not start; see the logs in $data" >&2
	exit 1
done

echo "NATS, a home and two fronts run. Open these in two browsers, and choose two members:"
echo
for front in "${fronts[@]}"; do echo "  http://$front"; done
echo
echo "The home is http://$home. Logs: $data/*.log. The links: $kith cluster status --data $data/home --watch"
echo "Stop all with Ctrl-C. Or kill one of them and start it again; process ids: ${children[*]}"
wait
