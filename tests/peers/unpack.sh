# shellcheck shell=bash
# Debian's packages into the cache where they are missing, and not installed: a server's package would start it with the machine.
# To be sourced, by scripts that have `say`.

unpack() { # folder in the cache, a library that lies there, packages
  local folder="${XDG_CACHE_HOME:-$HOME/.cache}/kith/$1" library=$2
  shift 2
  mkdir -p "$folder/packages"
  if [ ! -e "$folder/done" ]; then
    say "unpacking $* into $folder"
    (cd "$folder/packages" && { apt-get download "$@" || { apt-get update -qq && apt-get download "$@"; }; }) >&2 ||
      { say "cannot get them; install $*, or say: apt-get update"; exit 1; }
    for package in "$folder/packages"/*.deb; do dpkg -x "$package" "$folder"; done
    touch "$folder/done"
  fi
  PATH="$folder/usr/sbin:$folder/usr/bin:$PATH"
  LD_LIBRARY_PATH="$(dirname "$(find "$folder/usr/lib" -name "$library*" -print -quit)")"
  export PATH LD_LIBRARY_PATH
}
