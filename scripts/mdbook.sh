#!/usr/bin/env bash
# Prints the path of mdBook. If the required version is missing, builds it once, in the target directory.
set -euo pipefail

version="0.5.4"
tools="${CARGO_TARGET_DIR:-$HOME/.cache/kith/target}/tools"
for mdbook in "${MDBOOK:-}" "$(command -v mdbook || true)" "$tools/bin/mdbook"; do
  if [ -n "$mdbook" ] && [ "$("$mdbook" --version 2>/dev/null)" = "mdbook v$version" ]; then
    echo "$mdbook"
    exit 0
  fi
done
cargo install --quiet --locked --no-default-features --features search --root "$tools" "mdbook@$version" >&2
echo "$tools/bin/mdbook"
