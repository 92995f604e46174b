#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# A kernel of an operator, with the macros and tiling data of its definition. Usage: operator.sh TOOL FOLDER
set -e
tool=$1 folder=$2
rm -rf operator && mkdir operator && cd operator
fail() { echo "$*"; exit 1; }
build() {  # NAME OPTION...
  name=$1
  shift
  "$tool" cc "$folder/main.asc" kernel.o -I "$folder" -I stubs -o "$name"
}
# Host code of the test itself includes the tiling header, which names headers of a package.
mkdir -p stubs/a_package_that_is_not_there
: > stubs/a_header_that_is_not_there.h
: > stubs/a_package_that_is_not_there/log.h
compile() { "$tool" cc -c "$folder/op_kernel/affine_map.cpp" -o kernel.o --op-host="$folder/op_host" "$@"; }
export VINCI_MODE=functional

compile
build app
./app f 2 0.5 0.5
compile --op-config=1
build app
./app h 2 0.5 1.5
compile --op-type=AffineMap --op-config=2
build app
./app i 3 4 6
compile --tiling-key=3
build app
./app f 2 0.5 100.5
compile --tiling-key=7
build app
./app f 1 0.5 0  # has its own struct, without terms
compile --tiling-key=9 --op-host="$folder/shared"
build app
./app f 1 0.5 0
"$tool" cc -c "$folder/op_kernel/affine_own.cpp" -o kernel.o --op-host="$folder/op_host" --op-type=AffineMap
compile --op-type=AffineListed --op-config=2  # int32 and int32, of 2 x 2
build app
./app i 3 4 6

expect() {  # TEXT COMMAND...
  text=$1 status=0
  shift
  "$@" > said.txt 2>&1 || status=$?
  [ "$status" -eq 2 ] || { cat said.txt; fail "exit code $status, not 2: $*"; }
  grep -qF -- "$text" said.txt || { cat said.txt; fail "no '$text': $*"; }
}
expect "AffineMap has 3 combinations of data types for ascend910b" compile --op-config=3
expect "AffineListed has 4 combinations" compile --op-type=AffineListed --op-config=4
expect "the types of x and y differ" compile --op-type=AffineListed --op-config=0
expect "--op-config=x: a whole number" compile --op-config=x
expect "--op-type=Other: the operators for ascend910b are AffineMap, AffineListed" compile --op-type=Other
expect "no such folder" compile --op-host=nowhere
only() { "$tool" cc -c "$folder/op_kernel/affine_map.cpp" -o kernel.o --op-host="$1"; }
expect "no such folder" only nowhere
expect "no operator is defined for ascend910" compile --npu-arch=dav-1001
mkdir empty
expect "no file defines an operator" only empty
mkdir broken
echo 'int x = ; // OP_ADD' > broken/broken_def.cpp
expect "broken_def.cpp:1" only broken
