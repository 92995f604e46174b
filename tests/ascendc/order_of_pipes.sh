#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Mode full of a kernel without a flag between copy and sum. Usage: order_of_pipes.sh TOOL SOURCE
set -e
tool=$1 source=$2
rm -rf order_of_pipes && mkdir order_of_pipes && cd order_of_pipes
"$tool" cc "$source" -o app
status=0
VINCI_MODE=full VINCI_OUTPUT=out ./app 2> stderr.txt || status=$?
cat stderr.txt
[ "$status" -eq 3 ] || { echo "exit code $status, not 3"; exit 1; }
grep -q "differs from what the program got, at byte 3: the result depends on the order of pipes" stderr.txt
grep -q -- "--check names the place" stderr.txt
status=0
VINCI_MODE=full VINCI_OUTPUT=checked VINCI_RUN_OPTIONS=--check ./app > found.txt 2>&1 || status=$?
[ "$status" -eq 3 ] || { cat found.txt; exit 1; }
grep -q "raw-hazard" found.txt
