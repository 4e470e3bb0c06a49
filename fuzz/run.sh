#!/bin/sh
# Runs every fuzz target for SECONDS (default 60) and stops at the first finding.
# Works with the stable compiler that rust-toolchain.toml names.
set -eu
cd "$(dirname "$0")"
seconds=${1:-60}
[ $# -gt 1 ] && shift && targets="$*" || targets=$(sed -n 's/^name = "\(.*\)"/\1/p' Cargo.toml | grep -v '^kith-fuzz$')

export RUSTC_BOOTSTRAP=1
cargo fuzz --version >/dev/null 2>&1 || cargo install cargo-fuzz --locked

for target in $targets; do
    mkdir -p "corpus/$target"
    echo "== $target, $seconds s"
    cargo fuzz run "$target" "corpus/$target" "seeds/$target" -- \
        -max_total_time="$seconds" -max_len=65536 -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 2>&1 |
        tee "corpus/$target.log" | grep -E '^(stat::(number_of_executed|average_exec|new_units)|SUMMARY|==|thread|Failing)' || true
    # The pipe hides the exit status of the fuzzer; a finding leaves a file.
    if [ -n "$(ls -A "artifacts/$target" 2>/dev/null)" ]; then
        echo "$target: finding in fuzz/artifacts/$target" >&2
        exit 1
    fi
    grep -q 'Done .* runs' "corpus/$target.log" || { tail -20 "corpus/$target.log" >&2; exit 1; }
done
