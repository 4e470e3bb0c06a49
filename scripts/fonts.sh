#!/usr/bin/env bash
# Installs the fonts of the documentation's pictures, so that pictures look the same on all machines. As root it
# installs Debian's packages; otherwise it prints the command.
set -euo pipefail

packages=(fonts-inter fonts-noto-core fonts-noto-color-emoji)
is_here() { dpkg-query --show --showformat='${Status}\n' "$1" 2>/dev/null | grep -q '^install ok installed$'; }

missing=()
for package in "${packages[@]}"; do is_here "$package" || missing+=("$package"); done
if [ "${#missing[@]}" = 0 ]; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  export DEBIAN_FRONTEND=noninteractive
  {
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}"
  } </dev/null >&2
  exit 0
fi
echo "error: the pictures need the fonts of ${missing[*]}" >&2
echo "  try: sudo apt-get install ${missing[*]}" >&2
exit 1
