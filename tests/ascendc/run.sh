#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Compiles a program in Ascend C and runs it. Usage: run.sh TOOL SOURCE CODE [TEXT]
# CODE 0: the program must find its own results right; then once more in time with --check, compared bit by bit. Another
# code: the program must end with it, and with TEXT on stderr. With CODE 0, TEXT are other options than --check.
# A line "// options: ..." of the source has more options for the compiler.
set -e
tool=$1 source=$2 code=$3 text=$4
name=$(basename "$source" .asc)
mkdir -p "$name"
cd "$name"
"$tool" cc "$source" -o "$name" -I "$(dirname "$0")/kernels" -Wall -Wextra -Werror -Wno-unknown-pragmas $(sed -n 's|^// options: ||p' "$source")
if [ "$code" -eq 0 ]; then
  VINCI_MODE=full VINCI_OUTPUT=out VINCI_RUN_OPTIONS="${text:---check}" "./$name"
  grep -q "mode full" out/summary.txt
  exit 0
fi
status=0
VINCI_MODE=functional "./$name" 2> stderr.txt || status=$?
cat stderr.txt
[ "$status" -eq "$code" ] || { echo "exit code $status, not $code"; exit 1; }
grep -qF -- "$text" stderr.txt || { echo "no '$text' on stderr"; exit 1; }
