#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# The kernels' own scalar code takes time: as much as its operations, at its lines, and none for code of the headers.
# Usage: scalar_code.sh TOOL SOURCE
set -e
tool=$1 source=$2
fail() { echo "$*"; exit 1; }
rm -rf scalar_code && mkdir scalar_code && cd scalar_code
line() { grep -n "$1" "$source" | cut -d: -f1; }
cycles() { sed -n 's/^  "kernel_cycles": \([0-9]*\),$/\1/p' "$1/stats.json"; }  # while kernels run
build() {  # KERNEL TURNS [OPTION...]
  kernel=$1 turns=$2
  shift 2
  "$tool" cc "$source" "-DKERNEL=$kernel" "-DTURNS=$turns" "$@" -o "$kernel"
}
run() { VINCI_OUTPUT=$1 VINCI_RUN_OPTIONS="$3 $4" "./$2" > /dev/null || fail "$2: wrong results"; }  # FOLDER PROGRAM
own() {  # FOLDER [LINE]: cycles of own code, of the line
  python3 -c "
import json, sys
rows = json.load(open('$1/stats.json')).get('scalar_code', [])
print(sum(r['own'] for r in rows if not '$2' or r['at'].endswith(':$2')))"
}
api() { python3 -c "import json; print(sum(r['api'] for r in json.load(open('$1/stats.json'))['scalar_code']))"; }

# Weights of which each operation shows: two floating-point operations and three others a turn.
weights="--set core.scalar.code.op=1 --set core.scalar.code.float=100 --set core.scalar.code.access=0"
for turns in 1000 3000; do
  build chain $turns
  run chain-$turns chain "$weights"
done
[ $(($(own chain-3000) - $(own chain-1000))) -eq $((2000 * 203)) ] ||
  fail "2000 more turns: $(own chain-1000), $(own chain-3000) cycles"
[ $(($(cycles chain-3000) - $(cycles chain-1000))) -eq $((2000 * 203)) ] || fail "that is not the time that they take"
at=$(line '// the chain')
[ "$(own chain-3000 "$at")" -ge $((3000 * 203)) ] || fail "not at line $at: $(cat chain-3000/summary.txt)"
grep -q "^scalar code: [1-9][0-9]* cycles of all cores in the program's own code, [0-9]* inside the API" chain-3000/summary.txt ||
  { cat chain-3000/summary.txt; fail "no summary of it"; }

# Loads are as many as the loop has turns, whether it is unrolled or not.
for level in -O1 -O3; do
  build table 4096 $level
  run table$level table "--set core.scalar.code.op=0 --set core.scalar.code.float=0 --set core.scalar.code.access=1"
  [ "$(own table$level)" -eq 4096 ] || fail "table $level: $(own table$level) loads"
done

# Code inside the API is that of the API.
build calls 1
run called calls
[ "$(own called)" -eq 0 ] || { cat called/summary.txt; fail "$(own called) cycles of code that is not the kernel's"; }
[ "$(api called)" -gt 0 ] || fail "calls cost nothing"

# Off: when it is compiled, or when it runs. What remains is the same.
build chain 3000 --scalar-code=off
run off chain
build chain 3000 --scalar-code=on
VINCI_SCALAR_CODE=off run off-later chain
cmp off/stats.json off-later/stats.json || fail "off when it runs is not off when it is compiled"
[ "$(own off)" -eq 0 ] && [ "$(cycles off)" -lt "$(cycles chain-1000)" ] || fail "off: $(own off) cycles"

# A loop with calls is still a loop, in all modes and in a recording, with the cycles of the program.
build tiles 2000
VINCI_MODE=full run tiled tiles
VINCI_MODE=functional run functional tiles
[ "$(own tiled)" -gt $((2000 * 8 * 4)) ] || fail "tiles: $(own tiled) cycles"
"$tool" record -o tiles.vts ./tiles 2> record.txt > /dev/null
ratio=$(sed -n 's/.*(\([0-9]*\)\.[0-9]* to 1).*/\1/p' record.txt)
[ "$ratio" -ge 20 ] || { cat record.txt; fail "folded only $ratio to 1"; }
"$tool" run tiles.vts --chip ascend-910b1 --out again -q
cmp tiled/stats.json again/stats.json || fail "a recording has another time than the program"
"$tool" record --scalar-code off -o tiles.vts ./tiles 2> /dev/null > /dev/null
"$tool" run tiles.vts --chip ascend-910b1 --out again -q
[ "$(own again)" -eq 0 ] || fail "record --scalar-code off: $(own again) cycles"

status=0
"$tool" cc --scalar-code=maybe "$source" -o refused 2> refused.txt || status=$?
[ "$status" -eq 2 ] || fail "--scalar-code=maybe: exit code $status, not 2"
status=0
VINCI_SCALAR_CODE=1 ./tiles 2> refused.txt || status=$?
[ "$status" -eq 2 ] || fail "VINCI_SCALAR_CODE=1: exit code $status, not 2"
