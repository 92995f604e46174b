#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Loops that wait for a number in global memory order what follows; where they are missing, the check says so. Usage:
# memory_waits.sh TOOL SOURCE
set -e
tool=$1 source=$2
fail() { echo "$*"; exit 1; }
rm -rf memory_waits && mkdir memory_waits && cd memory_waits
for missing in 0 1 2; do
  "$tool" cc -DMISSING=$missing "$source" -o "waits$missing"
done
for mode in full timing; do
  for kind in "" "copy" "by pointer"; do
    for missing in 0 1 2; do
      status=0
      VINCI_MODE=$mode VINCI_RUN_OPTIONS=--check "./waits$missing" $kind > said.txt 2>&1 || status=$?
      if [ $missing -eq 0 ]; then
        [ $status -eq 0 ] || { cat said.txt; fail "mode $mode, '$kind': exit code $status"; }
      else
        [ $status -eq 3 ] || { cat said.txt; fail "mode $mode, '$kind', missing $missing: exit code $status"; }
        grep -q "multi-core corruption" said.txt || { cat said.txt; fail "mode $mode, '$kind': no finding"; }
      fi
    done
  done
done
