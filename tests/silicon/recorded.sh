#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Records tests/ascendc/kernels/add.asc as the published samples split the work, and holds the times of its pipes against
# the published ones; the same of a loop of scalar code. Usage: recorded.sh TOOL [OPTIONS of vinci validate]
set -e
tool=$1
shift
here=$(dirname "$(readlink -f "$0")")
mkdir -p recorded
cp "$here/../../configs/silicon/recorded/ascendc.yaml" recorded/
cd recorded

record() { # name bytes tile blocks slots unit serial
  "$tool" cc "$here/../ascendc/kernels/add.asc" -o "$1.out" -Wno-unknown-pragmas \
    "-DBYTES=$2" "-DTILE=$3" "-DBLOCKS=$4" "-DSLOTS=$5" "-DUNIT=$6" "-DSERIAL=$7"
  VINCI_MODE=timing VINCI_OUTPUT="$1" "./$1.out"
}
record case1 134217728 8192 1 1 16384 0
record case2 134217728 8192 48 1 16384 1
record case3 134217728 32768 48 1 16384 1
record case4 134217728 32768 48 2 16384 1
record b4-10k 10240 1024 1 1 1024 0
# A loop of the kernel's own code.
"$tool" cc "$here/../ascendc/front_end/scalar_code.asc" -DKERNEL=chain -DTURNS=1000000 -o chain.out
VINCI_MODE=timing VINCI_CHIP=ascend-910b3 VINCI_OUTPUT=chain ./chain.out
"$tool" validate ascendc.yaml --detail "$@"
