#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# The header of CCE intrinsics is that of the table of instructions, and each of them compiles for each of its types.
# Usage: intrinsics.sh TOOL GENERATOR HEADER
set -e
tool=$1 generator=$2 header=$3
mkdir -p intrinsics
cd intrinsics
"$generator" > cce_intrinsics.h
cmp cce_intrinsics.h "$header" || { echo "stale: run ./dev docs"; exit 1; }
"$generator" --each-call > each.asc
[ "$(grep -c '^  v' each.asc)" -gt 300 ]
"$tool" cc -xcce -c each.asc -o each.o
