#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Kernels without progress end with their line, and those that only wait come to their end.
# Usage: no_progress.sh TOOL SOURCE
set -e
tool=$1 source=$2
fail() { echo "$*"; exit 1; }
rm -rf no_progress && mkdir no_progress && cd no_progress
"$tool" cc "$source" -o app
line=$(grep -n '// native' "$source" | cut -d: -f1)
several=$(grep -n '// several' "$source" | cut -d: -f1)

# Native code: a warning with the line, then the end with the line; the launch before is recorded.
status=0
VINCI_NATIVE_WARNING=1 "$tool" sim --native-timeout 3 --output native -q ./app 0 2> native.txt || status=$?
cat native.txt
[ "$status" -eq 7 ] || fail "exit code $status, not 7"
grep -q "^vinci: warning: .*no_progress.asc:$line: kernel 'spin', AIV of block 0: its native code has made no progress for 1 s" native.txt || fail "no warning with line $line"
grep -q "limit fault: .*no_progress.asc:$line: kernel 'spin', AIV of block 0: .* for 3 s" native.txt || fail "no fault with line $line"
grep -q "1 launch before it is recorded, the latest of kernel 'fill': native/stream.vts" native.txt || fail "no recording"

# Polling of several addresses that nothing writes: a deadlock.
status=0
VINCI_MODE=functional ./app 1 2> several.txt || status=$?
cat several.txt
[ "$status" -eq 6 ] && grep -q "polls global memory at .*no_progress.asc:$several" several.txt || fail "several: exit code $status"

# The same by a pointer.
pointer=$(grep -n '// by pointer' "$source" | cut -d: -f1)
status=0
VINCI_MODE=functional ./app 5 2> pointer.txt || status=$?
cat pointer.txt
[ "$status" -eq 6 ] && grep -q "polls global memory at .*no_progress.asc:$pointer" pointer.txt || fail "pointer: exit code $status"

# While its cores take turns, a kernel has its own line, also where libraries of the system have debug information. A fast
# machine proves the deadlock before the time is over.
status=0
VINCI_MODE=functional VINCI_NATIVE_TIMEOUT=1 ./app 1 2> turns.txt || status=$?
cat turns.txt
[ "$status" -eq 6 ] || { [ "$status" -eq 7 ] && grep -q "limit fault: [^ ]*no_progress.asc:" turns.txt; } || fail "turns: $status"

# Waiting by dcci and a pointer, by two words; a table that is read again and again.
for how in 2 3 4; do
  VINCI_MODE=functional VINCI_NATIVE_TIMEOUT=20 ./app $how || fail "$how: exit code $?"
done
status=0
VINCI_NATIVE_TIMEOUT=soon ./app 4 2> soon.txt || status=$?
[ "$status" -eq 2 ] && grep -q "VINCI_NATIVE_TIMEOUT=soon: a number of seconds is expected" soon.txt || fail "soon: $status"
