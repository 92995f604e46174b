#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Accesses through pointers to UB are those of GetValue and SetValue; wrong ones end with their line. Usage:
# pointers.sh TOOL SOURCE
set -e
tool=$1 source=$2
fail() { echo "$*"; exit 1; }
rm -rf pointers && mkdir pointers && cd pointers
ulimit -c 0
"$tool" cc "$source" -o app
VINCI_MODE=full VINCI_OUTPUT=out ./app
# The same instructions, so the same time.
duration() { sed -n "s/^0,$1,[^,]*,[^,]*,[^,]*,\([0-9.]*\),.*/\1/p" out/task_time_*.csv; }
[ "$(duration by_calls)" = "$(duration by_pointer)" ] || fail "by calls $(duration by_calls) us, by pointer $(duration by_pointer) us"
VINCI_SCALAR_CODE=off VINCI_MODE=full VINCI_OUTPUT=off ./app
grep -q '"instructions": 80,' off/stats.json || fail "not 2 * 33 and 14 instructions"

# how, exit code, mark of the line, text
while IFS='|' read -r how code mark text; do
  status=0
  VINCI_OUTPUT=fault ./app "$how" 2> "fault$how.txt" || status=$?
  cat "fault$how.txt"
  line=$(grep -n "// $mark" "$source" | cut -d: -f1)
  [ "$status" -eq "$code" ] || fail "$mark: exit code $status, not $code"
  grep -q "pointers.asc:$line: $text" "fault$how.txt" || fail "$mark: not '$text' with line $line"
done << 'CASES'
1|3|past the end|.*out of bounds
2|139|null|an access through a null or wild pointer
3|139|wild|an access through a null or wild pointer
4|3|not reached|the scalar unit reaches UB and global memory, not L1
5|3|runs into it|.*out of bounds
CASES
