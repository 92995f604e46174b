#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Sources whose code depends on the kind of the core, in several files, from a library, with their lines; and options of
# other compilers. Usage: core_kinds.sh TOOL TESTS
set -e
tool=$1 sources=$2/front_end kernels=$2/kernels
fail() { echo "$*"; exit 1; }
rm -rf core_kinds && mkdir core_kinds && cd core_kinds

"$tool" cc "$sources/core_kinds.asc" "$sources/core_kinds_other.asc" -I"$kernels" -o together
VINCI_MODE=full VINCI_RUN_OPTIONS="--check --trace" VINCI_OUTPUT=out ./together
line=$(grep -n '// on AIV' "$sources/core_kinds_other.asc" | cut -d: -f1)
grep -q "AIV,V,vector_dup,.*core_kinds_other.asc:$line," out/instructions.csv || fail "no vector_dup of line $line"

# Objects of their own, one of them in a static library.
"$tool" cc -c -I"$kernels" "$sources/core_kinds.asc" -o one.o
"$tool" cc -c "$sources/core_kinds_other.asc" -o two.o
ar rc libtwo.a two.o
"$tool" cc one.o -L. -ltwo -o linked
VINCI_MODE=functional ./linked

# One kind alone, named as other compilers name it.
cat > one.cce << 'SOURCE'
#include "acl/acl.h"
__global__ [aicore] void one(__gm__ int* out) {
#ifdef __DAV_C220_VEC__
  *out = get_block_num() + 10;
#elif defined(__DAV_C220_CUBE__)
  *out = get_block_num() + 20;
#endif
}
int main() {
  void* out;
  aclInit(nullptr);
  aclrtMalloc(&out, 32, ACL_MEM_MALLOC_HUGE_FIRST);
  one<<<1, nullptr, nullptr>>>((int*)out);
  return *(int*)out;
}
SOURCE
for kind in vec:11 cube:21; do
  "$tool" cc -xcce --cce-aicore-arch=dav-c220-${kind%:*} -mllvm -cce-aicore-stack-size=0x8000 -Xhost-start -O2 -Xhost-end one.cce -o one
  status=0
  VINCI_MODE=functional ./one || status=$?
  [ "$status" -eq "${kind#*:}" ] || fail "$kind: $status"
done

# What could change the meaning of a program is refused by its name.
status=0
"$tool" cc --cce-some-option one.cce -o one 2> said.txt || status=$?
[ "$status" -ne 0 ] && grep -q -- "--cce-some-option: this option is not known" said.txt || fail "an unknown option: $(cat said.txt)"
status=0
"$tool" cc --npu-arch=dav-3510 one.cce -o one 2> said.txt || status=$?
[ "$status" -ne 0 ] && grep -q -- "dav-c220" said.txt || fail "an unknown architecture: $(cat said.txt)"
