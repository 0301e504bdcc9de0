#!/bin/sh
# Checksums of a directory's files: rank 0 hands them out one by one, the others compute. See README.md.
#
#   stcirun --client -n 4 sh master-worker.sh DIRECTORY
set -eu
directory=${1:?expected a directory}
rank=$(stci-client rank)
size=$(stci-client size)

serial() { for file in "$directory"/*; do cksum "$file"; done; }

if [ "$size" -eq 1 ]; then
  serial
  exit
fi

# A worker asks by its result, the first time by an empty one; an empty task ends it.
if [ "$rank" -gt 0 ]; then
  stci-client send 0 '' --tag result
  while file=$(stci-client recv --from 0 --tag task) && [ -n "$file" ]; do
    cksum "$file" | stci-client send 0 --tag result
  done
  exit
fi

results=$(mktemp)
trap 'rm -f "$results"' EXIT
workers=$((size - 1))
set -- "$directory"/*
count=$#
while [ "$workers" -gt 0 ]; do
  # The first line of --head says who sent it; the rest is the message.
  from=$(stci-client recv --tag result --head | { read -r from rest; cat >>"$results"; echo "$from"; })
  stci-client send "$from" "${1-}" --tag task
  if [ $# -gt 0 ]; then shift; else workers=$((workers - 1)); fi
done

if [ "$(sort "$results")" = "$(serial | sort)" ]; then
  echo "$count files, $((size - 1)) workers: as computed by one process"
else
  echo "$count files, $((size - 1)) workers: NOT as by one process"
  exit 1
fi
