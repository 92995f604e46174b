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

# What the compiler is asked for: a step of it in each line.
mkdir bin && printf '#!/bin/sh\necho "$*" >> "%s/steps.txt"\nexec "%s" "$@"\n' "$PWD" "$(command -v clang++-19)" > bin/clang++-19
chmod +x bin/clang++-19
steps() { grep -c -e "$1" steps.txt || true; }
cc() { rm -f steps.txt; PATH="$PWD/bin:$PATH" "$tool" cc -c "$@"; }

# Headers of C declare size_t and off_t in the file that comes first: that is no other text.
cat > c_first.asc << 'SOURCE'
#include <stdio.h>
#include <unistd.h>
#include <vector>
#include "kernel_operator.h"
off_t offset;
size_t size;
SOURCE
cc c_first.asc
[ "$(steps '-include-pch')" -eq 1 ] || fail "headers of C in front: $(cat steps.txt)"
# With these macros they declare something else.
cc -DEXPECTED=false cube_only.asc
[ "$(steps '-include-pch')" -eq 1 ] || fail "nothing in front: $(cat steps.txt)"
(echo '#define _FILE_OFFSET_BITS 64'; cat c_first.asc) > other_c.asc
cc other_c.asc
[ "$(steps '-include-pch')" -eq 0 ] || fail "other declarations of C: $(cat steps.txt)"

# Warnings for the main file are not for its headers.
printf '#include "inner.h"\nstatic const int in_header = 1;\n' > outer.h
printf 'static const int in_inner = 1;\n' > inner.h
(echo '#include "outer.h"'; cat c_first.asc) > warns.asc
cc -Wall -Werror warns.asc
[ "$(steps '-include-pch')" -eq 1 ] || fail "headers of the user in front: $(cat steps.txt)"
echo 'static const int in_main = 1;' >> warns.asc
cc -Wall -Werror warns.asc 2> warns.txt && fail "no warning for the main file"
grep -q 'warns.asc:8:18: error: unused variable' warns.txt || fail "the warning: $(cat warns.txt)"

# A source that does not ask for the kind of the core is preprocessed once.
cc c_first.asc
[ "$(steps '-E -x')" -eq 1 ] || fail "preprocessed $(steps '-E -x') times"
printf '#ifdef __DAV_C220_VEC__\nint kind;\n#endif\n' > kind.h
(echo '#include "kind.h"'; cat c_first.asc) > asks.asc
cc asks.asc
[ "$(steps '-E -x')" -eq 2 ] || fail "a header asks for the kind: preprocessed $(steps '-E -x') times"

# Lines, and a folder that cannot be used.
printf '#include "kernel_operator.h"\n\nint x = ;\n' > bad.asc
"$tool" cc -c bad.asc 2> bad.txt && fail "a faulty source compiles"
grep -q 'bad.asc:3:9: error' bad.txt || fail "the line: $(cat bad.txt)"
XDG_CACHE_HOME=/proc/none "$tool" cc -c "$source" -o without.o
