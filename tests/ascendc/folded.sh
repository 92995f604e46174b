#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Kernels of more instructions than a program can store: they are folded while they are recorded, and have time and bits.
# A recording with data has large buffers in files next to it. Usage: folded.sh TOOL KERNELS
set -e
tool=$1 kernels=$2
fail() { echo "$*"; exit 1; }
rm -rf folded && mkdir folded && cd folded
instructions() { "$tool" check "$1" | sed -n 's/.* \([0-9]*\) instructions in \([0-9]*\) instructions/\1 \2/p'; }

# A loop over tiles on vector cores: more than 2^20 instructions, bits compared in mode full.
"$tool" cc "$kernels/adamw.asc" -o adamw
VINCI_MODE=full VINCI_OUTPUT=full ./adamw
set -- $(instructions full/stream.vts)
[ "$1" -gt 1048576 ] && [ "$2" -lt 2000 ] || fail "$1 instructions folded into $2"
[ "$(wc -c < full/stream.vts)" -lt 60000 ] || fail "a large task stream: $(wc -c < full/stream.vts) bytes"
[ -n "$(ls full/stream.data)" ] || fail "no data beside the stream"

# Mode timing needs no more memory than what is stored: 36 MB, where 1.2 million instructions would be 700.
peak=$(VINCI_MODE=timing VINCI_OUTPUT=timing python3 -c "
import resource, subprocess, sys
subprocess.run(['./adamw'], check=True, stdout=sys.stderr)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
[ "$peak" -lt 200000 ] || fail "$peak KiB of memory"
cmp full/stats.json timing/stats.json || fail "other statistics in mode timing"

# Recorded with data, run without the source.
"$tool" record -o app.vts ./adamw
"$tool" run app.vts --chip ascend-910b1 --out again -q
cmp full/stats.json again/stats.json || fail "a recording has another time than the program"
for f in full/*.bin; do cmp "$f" "again/$(basename "$f")" || fail "other bits"; done

# Loops over tiles and through k, on cube cores.
"$tool" cc -DSIZE=2048 -DBLOCKS=24 "$kernels/large_matmul.asc" -o matmul
VINCI_MODE=full VINCI_OUTPUT=matmul-full ./matmul
set -- $(instructions matmul-full/stream.vts)
[ "$1" -gt "$((50 * $2))" ] || fail "$1 instructions folded into $2"

# What does not repeat has bits, and says why it has no time.
"$tool" cc -DCALLS=14000 "$kernels/unrepeated.asc" -o unrepeated
VINCI_OUTPUT=unrepeated-out ./unrepeated 2> unrepeated.txt || fail "wrong bits: $(cat unrepeated.txt)"
grep -q "no time: of the [0-9]* instructions that the kernel 'unrepeated' issued, more than 1048576 do not repeat" unrepeated.txt ||
  fail "no reason: $(cat unrepeated.txt)"
