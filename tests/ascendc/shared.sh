#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Programs that write where another process writes are refused, and leave its files alone. Usage: shared.sh TOOL SOURCE
set -e
tool=$1 source=$2
fail() { echo "$*"; exit 1; }
rm -rf shared && mkdir shared && cd shared
"$tool" cc "$source" -o app

# While another process has the folder $1: the command fails, and says why.
refused() {
  mkdir -p "$1"
  status=0
  flock "$@" 2> refused.txt || status=$?
  cat refused.txt
  [ "$status" -eq 2 ] && grep -q "$1: another process of vinci uses this folder" refused.txt || fail "$2 $3: exit code $status"
}

for mode in timing full; do
  refused output "$tool" sim --mode $mode --output output -q ./app
  [ -z "$(ls -A output)" ] || fail "sim: files in the folder of another process: $(ls -A output)"
done
"$tool" sim --output output -q ./app

# The data of a recording, in files next to it.
"$tool" record -o r.vts ./app 2
[ "$(ls r.data | wc -l)" -ge 1 ] || fail "the recording has no files"
"$tool" record -o before.vts ./app 3
mv before.data/* r.data/ && rmdir before.data
before=$(ls r.data)
refused r.data "$tool" record -o r.vts ./app 3
# A recording that needs no files does not remove those of another one.
flock r.data "$tool" record -o r.vts ./app 1
[ "$(ls r.data)" = "$before" ] || fail "record: files of another process are removed"
"$tool" record -o r.vts ./app 2
"$tool" check r.vts
[ "$(ls r.data)" != "$before" ] || fail "files of an earlier recording stay"
