#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Precompiled headers change nothing but the time: they are taken where the source has the same text, and only there.
# Usage: precompiled.sh TOOL SOURCE
set -e
tool=$1 source=$2
fail() { echo "$*"; exit 1; }
rm -rf precompiled && mkdir precompiled && cd precompiled
export XDG_CACHE_HOME="$PWD/cache"
count() { ls cache/vinci/headers-*.pch 2> /dev/null | wc -l; }

# Two at the same time share one.
"$tool" cc "$source" -o first & other=$!
"$tool" cc "$source" -o second
wait $other
[ "$(count)" -eq 1 ] || fail "$(count) precompiled headers"
VINCI_MODE=functional ./first
VINCI_MODE=functional ./second
"$tool" cc -DOWN=1 -Wall "$source" -o third
[ "$(count)" -eq 1 ] || fail "a macro of the source makes others: $(count)"

# A macro that the headers ask for.
cat > cube_only.asc << 'SOURCE'
#ifdef ONLY
#define ASCENDC_CUBE_ONLY
#endif
#include "kernel_operator.h"
#include "lib/matmul_intf.h"
static_assert(AscendC::vinci_detail::kCubeOnly == EXPECTED);
SOURCE
"$tool" cc -c -DEXPECTED=false cube_only.asc
"$tool" cc -c -DEXPECTED=true -DONLY cube_only.asc
"$tool" cc -c -DEXPECTED=false -DONLY cube_only.asc 2> /dev/null && fail "the macro before the header has no effect"

# Lines, and a folder that cannot be used.
printf '#include "kernel_operator.h"\n\nint x = ;\n' > bad.asc
"$tool" cc -c bad.asc 2> bad.txt && fail "a faulty source compiles"
grep -q 'bad.asc:3:9: error' bad.txt || fail "the line: $(cat bad.txt)"
XDG_CACHE_HOME=/proc/none "$tool" cc -c "$source" -o without.o
