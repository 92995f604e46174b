#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# --cce-auto-sync: programs that rely on it are clean, what it does not do is still found, and it says what it did. Usage:
# auto_sync.sh TOOL SOURCE
set -e
tool=$1 source=$2
fail() { echo "$*"; exit 1; }
rm -rf auto_sync && mkdir auto_sync && cd auto_sync
line() { grep -n "$1" "$source" | cut -d: -f1; }

"$tool" cc --cce-auto-sync=on --cce-auto-sync-log=log.txt "$source" -o on
VINCI_MODE=full VINCI_OUTPUT=on_out VINCI_RUN_OPTIONS=--check ./on 2> on.txt
grep -q "vinci: the check has no findings; on_out/summary.txt" on.txt
"$tool" cc --cce-auto-sync=off "$source" -o off
status=0
VINCI_MODE=full VINCI_OUTPUT=off_out VINCI_RUN_OPTIONS=--check ./off > off.txt 2>&1 || status=$?
[ "$status" -eq 3 ] || fail "without: exit code $status, not 3"
for id in missing-pipe-barrier raw-hazard war-hazard waw-hazard; do
  grep -q "\"$id\"" off_out/findings.json || fail "without: no $id"
done

# In each of 2 blocks, for each of 6 tiles: 3 barriers and a flag each way; 1 barrier in each of 2 blocks; copies.
grep -q "^inserted by --cce-auto-sync: 38 pipe_barrier, 30 set_flag with wait_flag, [1-9][0-9]* cycles" on_out/summary.txt ||
  { cat on_out/summary.txt; fail "not 38 barriers and 30 flags"; }
! grep -q "auto-sync" off_out/summary.txt || fail "without: inserted"
count() {  # TEXT WHAT COUNT: of the line with the text
  at=$(line "$1")
  tr -d '\n' < on_out/stats.json | grep -q "auto_sync.asc:$at\", *\"what\": \"$2\", *\"count\": $3," || fail "line $at: not $3 of $2"
}
count '    Mul(b, b, a' 'pipe_barrier PIPE_V' 12
count 'b.GetValue(0)' 'PIPE_V -> PIPE_S' 12
count 'Adds(c, b' 'PIPE_S -> PIPE_V' 12
count 'u.GetValue(0)' 'PIPE_MTE2 -> PIPE_S' 1
count 'u.GetValue(0)' 'PIPE_MTE3 -> PIPE_S' 1
count 'out.GetValue(8)' 'PIPE_MTE3 -> PIPE_S' 1
count 'DataCopy(out, t' 'PIPE_S -> PIPE_MTE3' 1

# The log, each insertion once for each line.
logged() {
  grep -qF "auto_sync.asc:$(line "$1") : line before insert sync : $2" log.txt || { cat log.txt; fail "not in the log: $2"; }
}
logged '    Mul(b, b, a' 'PipeBarrier<PIPE_V>();'
logged 'b.GetValue(0)' 'SetFlag<HardEvent::V_S>(EVENT_ID6);'
logged 'b.GetValue(0)' 'WaitFlag<HardEvent::V_S>(EVENT_ID6);'
[ "$(grep -c Position log.txt)" -eq 20 ] || { cat log.txt; fail "not 20 lines"; }

# The environment goes before the compiler's option; a recording has what was inserted.
VINCI_MODE=full VINCI_OUTPUT=off_out VINCI_AUTO_SYNC=on VINCI_RUN_OPTIONS=--check ./off
"$tool" record --cce-auto-sync on -o on.vts ./off
"$tool" run on.vts --check -o run_out
grep -q "^inserted by --cce-auto-sync: 38 pipe_barrier" run_out/summary.txt || fail "not in the recording"

# What nothing inserts is still found: mutant, id
while read -r mutant id; do
  "$tool" cc --cce-auto-sync "$source" -DMUTANT="$mutant" -o mutant
  status=0
  VINCI_OUTPUT=mutant_out VINCI_RUN_OPTIONS=--check ./mutant > mutant.txt 2>&1 || status=$?
  [ "$status" -eq 3 ] || { cat mutant.txt; fail "mutant $mutant: exit code $status, not 3"; }
  grep -q "\"$id\"" mutant_out/findings.json || { cat mutant.txt; fail "mutant $mutant: no $id"; }
done << 'CASES'
1 raw-hazard
2 raw-hazard
3 block-overlap
4 missing-pipe-barrier
5 raw-hazard
6 raw-hazard
CASES

refused() {
  status=0
  "$tool" cc "$@" -c "$source" -o refused.o 2> refused.txt || status=$?
  [ "$status" -eq 2 ] || fail "$*: exit code $status, not 2"
}
refused --cce-auto-sync=yes
refused --cce-auto-sync-log
status=0
VINCI_AUTO_SYNC=1 ./on 2> refused.txt || status=$?
[ "$status" -eq 2 ] || fail "VINCI_AUTO_SYNC=1: exit code $status, not 2"
