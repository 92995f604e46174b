#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# A kernel that reads past an allocation is stopped, and not where allocations are pages. Usage: allocation.sh TOOL TESTS
set -e
tool=$1 tests=$2
"$tests/run.sh" "$tool" "$tests/front_end/over_read.asc" 3 "over_read.asc:9: The DDR address of the MTE instruction is out of range"
cd over_read
grep -q "may go unnoticed: so with --allocation pages" stderr.txt
VINCI_ALLOCATION=pages VINCI_MODE=full VINCI_RUN_OPTIONS=--numerics ./over_read
"$tool" record --allocation pages -o kept.vts ./over_read
"$tool" run kept.vts --out run -q
status=0
VINCI_ALLOCATION=some ./over_read 2> wrong.txt || status=$?
[ "$status" -eq 2 ] && grep -q "VINCI_ALLOCATION=some: exact or pages" wrong.txt
