#!/usr/bin/env bash
# Fails with instructions if Node is missing or too old for the widget's tools.
set -euo pipefail

wanted="20.19"
if ! command -v node >/dev/null; then
  echo "error: Node is missing; the widget needs $wanted or newer" >&2
  echo "  try: apt-get install nodejs npm, or https://nodejs.org/en/download" >&2
  exit 1
fi
found="$(node --version)"
if [ "$(printf '%s\n%s\n' "$wanted" "${found#v}" | sort -V | head -n 1)" != "$wanted" ]; then
  echo "error: Node $found is too old; the widget needs $wanted or newer" >&2
  exit 1
fi
