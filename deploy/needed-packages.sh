#!/bin/sh
# needed-packages.sh WORKSPACE TARGET
# npm installs what all workspaces need together. Copies to TARGET what one of them needs to run, packages of ours included.
set -eu
workspace=$1 target=$2
npm ls --omit=dev --all --parseable --workspace="$workspace" | while read -r path; do
  relative=${path#"$PWD"/}
  [ "$relative" != "$path" ] || continue # the repository itself
  mkdir -p "$target/$(dirname "$relative")"
  if [ -L "$path" ]; then
    folder=packages/${relative#node_modules/@svc/}
    cp -a "$path" "$target/$relative"
    mkdir -p "$target/$folder"
    cp -a "$folder/." "$target/$folder"
  elif [ ! -e "$target/$relative" ]; then # otherwise it came with the package it lies in
    cp -a "$path" "$target/$relative"
  fi
done
