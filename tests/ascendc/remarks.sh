#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Calls that go past their buffers or have values beyond their limits are findings of the check, with their lines. Usage:
# remarks.sh TOOL SOURCE
set -e
tool=$1 source=$2
fail() { echo "$*"; exit 1; }
rm -rf remarks && mkdir remarks && cd remarks
"$tool" cc "$source" -o app
VINCI_RUN_OPTIONS=--check VINCI_OUTPUT=right ./app right > right.txt 2>&1 || { cat right.txt; fail "the right kernel has findings"; }

# what the kernel does, mark of the line, id, text of the finding
while IFS='|' read -r what mark id text; do
  status=0
  VINCI_RUN_OPTIONS=--check VINCI_OUTPUT="$what" ./app "$what" > "$what.txt" 2>&1 || status=$?
  line=$(grep -n "// $mark" "$source" | cut -d: -f1)
  grep -q "$text" "$what.txt" || { cat "$what.txt"; fail "$what: not '$text'"; }
  grep -q "\"id\": \"$id\"" "$what/findings.json" || fail "$what: no $id"
  grep -q "at .*remarks.asc:$line " "$what.txt" || { cat "$what.txt"; fail "$what: not in line $line"; }
done << 'CASES'
load|longer than its buffer|buffer-overrun|dst of copy_gm_to_ubuf goes 512 bytes past the end of its buffer
compute|longer than both|buffer-overrun|past the end of its buffer
tbuf|of the TBuf|buffer-overrun|goes 64 bytes past the end of its buffer
mask|wide mask|illegal-operand|a mask of 256 elements: a repeat of this type has 128
mask32|wide mask of floats|illegal-operand|a mask of 128 elements: a repeat of this type has 64
many|as many repeats|illegal-operand|256 repeats: an instruction has 8 bits for them, so it does 0
many_casts|many casts|illegal-operand|257 repeats: an instruction has 8 bits for them, so it does 1
many_scalars|many products|illegal-operand|258 repeats: an instruction has 8 bits for them, so it does 2
flag|taken flag|illegal-operand|flag 12 between cores
CASES
