#!/usr/bin/env bash
# Counts the instructions of each operation of crates/bench with valgrind, and writes crates/bench/instructions.txt;
# with --check it compares instead, and fails if an operation has grown by more than 2 % over the count in the file.
#
# BENCH_BIN: its release build. Each operation is counted N times and 2 N times; the difference, divided by N, is one
# time. The work of a database in memory is not counted: "in-domain" is the domain alone. Counts of several threads vary
# by 1.2 % from run to run (measured), so groups may grow by 5 %. Counts are valid for one compiler, valgrind and C
# library, and a processor with AVX2: valgrind shows all of those alike. On other machines the script says so and
# compares nothing. docs/design/benches.md has the variation of the counts.
set -euo pipefail
cd "$(dirname "$0")/.."

bench="${BENCH_BIN:?the release build of crates/bench}"
file=crates/bench/instructions.txt
limit_percent=2
group_limit_percent=5

if ! command -v valgrind >/dev/null; then
  install="apt-get install --yes --no-install-recommends valgrind"
  [ "$(id -u)" = 0 ] || { echo "valgrind is missing; say: sudo $install" >&2; exit 1; }
  { apt-get update -qq; $install; } >&2
fi

count() { # operation, times
  # Use one arena, as the node does, so that the order of threads has no effect.
  MALLOC_ARENA_MAX=1 valgrind --tool=callgrind --callgrind-out-file=/dev/null --fair-sched=yes \
    --toggle-collect='store::turns::Inner::carry_out*' --toggle-collect='store::turns::Inner::index_words*' \
    --collect-atstart=yes "$bench" "$1" "$2" 2>&1 |
    awk '/Collected/ { print $NF }'
}

each() { # operation, how many one time is
  local times=$(($2 > 1 ? 50 : 400)) once twice
  # At the same time: a processor each.
  exec 3< <(count "$1" "$times")
  twice="$(count "$1" $((2 * times)))"
  read -r once <&3
  exec 3<&-
  echo $(((twice - once) / (times * $2)))
}

counted() {
  "$bench" | while read -r name many; do printf '%-26s %8d\n' "$name" "$(each "$name" "$many")"; done
}

# The versions on which counts depend.
place() {
  local avx2=""
  grep -qsw avx2 /proc/cpuinfo && avx2=" with AVX2"
  echo "Rust $(rustc --version | cut -d' ' -f2), $(valgrind --version), $(getconf GNU_LIBC_VERSION), $(uname -m)$avx2"
}

here="$(place)"
if [ "${1:-}" = --check ]; then
  there="$(sed -n 's/^# Counted with \(.*\)\.$/\1/p' "$file")"
  if [ "$here" != "$there" ]; then
    echo "Instructions are not compared: here is $here, and $file was counted with $there."
    exit 0
  fi
  counted | awk -v single="$limit_percent" -v group="$group_limit_percent" '
    NR == FNR { if ($1 !~ /^#/) known[$1] = $2; next }
    {
      limit = $1 ~ /-in-group$/ ? group : single
      change = known[$1] ? ($2 / known[$1] - 1) * 100 : 0
      grown = !known[$1] || change > limit
      printf "%-26s %8d, was %8d: %+.1f %%%s\n", $1, $2, known[$1], change, grown ? "  GREW" : ""
      failed += grown
    }
    END { if (failed) { print "If that is worth it: make instructions, and say why in the commit."; exit 1 } }' "$file" -
else
  {
    echo "# Instructions of each hot path, done once (crates/bench), by \`make instructions\`."
    echo "# \`make instructions-check\` fails where one grows by more than $limit_percent % (groups: $group_limit_percent %)."
    echo "# Counted with $here."
    counted
  } >"$file.new"
  mv "$file.new" "$file"
  cat "$file"
fi
