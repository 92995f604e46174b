#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# A program that crashes leaves the recording of its finished launches, and ends as it would have. Usage: crash.sh TOOL SOURCE
set -e
tool=$1 source=$2
fail() { echo "$*"; exit 1; }
rm -rf crash && mkdir crash && cd crash
ulimit -c 0
"$tool" cc "$source" -o app

# how, exit code (128 + signal), text on stderr
while read -r how code text; do
  status=0
  VINCI_OUTPUT="$how" ./app "$how" > /dev/null 2> "$how.txt" || status=$?
  cat "$how.txt"
  [ "$status" -eq "$code" ] || fail "$how: exit code $status, not $code"
  grep -qF -- "$text" "$how.txt" || fail "$how: no '$text' on stderr"
  "$tool" run "$how/stream.vts" --mode timing --out "$how.run" -q || fail "$how: the recording does not run"
  [ "$(grep -c '"type": "KERNEL_AIVEC"' "$how.run/stats.json")" -eq 3 ] || fail "$how: not three launches"
done << 'CASES'
segv 139 vinci: SIGSEGV: 3 launches before it are recorded, the latest of kernel 'scale': segv/stream.vts
abort 134 vinci: SIGABRT: 3 launches before it are recorded
throw 134 vinci: SIGABRT: 3 launches before it are recorded
stack 139 vinci: SIGSEGV: 3 launches before it are recorded
kernel 139 vinci: SIGSEGV in AIV of block 0: 3 launches before it are recorded
fault 3 vinci: the fault: 3 launches before it are recorded
exit 3 vinci: exit/summary.txt
CASES

line=$(grep -n 'crash != 0' "$source" | cut -d: -f1)
grep -q "SIGSEGV in AIV of block 0: .*crash.asc:$line: an access" kernel.txt || fail "no line of the kernel"

# What is to be recorded is, in the file that was asked for; without time nothing is.
status=0
VINCI_RECORD=app.vts VINCI_MODE=functional ./app segv 2> record.txt || status=$?
[ "$status" -eq 139 ] && grep -q "recorded, the latest of kernel 'scale': app.vts" record.txt || fail "record: $(cat record.txt)"
"$tool" run app.vts --out record.run -q || fail "the recording does not run"
status=0
VINCI_MODE=functional ./app segv 2> functional.txt || status=$?
[ "$status" -eq 139 ] && ! grep -q vinci: functional.txt || fail "functional: $(cat functional.txt)"
