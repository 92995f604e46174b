#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# --check knows what long runs of scalar accesses touch: no finding where they are right, the finding where they are not.
# Usage: scalar_runs.sh TOOL SOURCE
set -e
tool=$1 source=$2
fail() { echo "$*"; exit 1; }
kernels=$(cd "$(dirname "$source")/../kernels" && pwd)
rm -rf scalar_runs && mkdir scalar_runs && cd scalar_runs

"$tool" cc "$source" -I "$kernels" -o right
VINCI_RUN_OPTIONS=--check ./right
"$tool" record -o right.vts ./right
"$tool" run right.vts --mode timing --check
while read -r mutant id; do
  "$tool" cc "$source" -I "$kernels" -DMUTANT="$mutant" -o mutant
  status=0
  VINCI_OUTPUT=out_$mutant VINCI_RUN_OPTIONS=--check ./mutant > mutant.txt 2>&1 || status=$?
  [ "$status" -eq 3 ] || { cat mutant.txt; fail "mutant $mutant: exit code $status, not 3"; }
  grep -q "\"$id\"" "out_$mutant/findings.json" || { cat mutant.txt; fail "mutant $mutant: no $id"; }
done << 'CASES'
1 uninitialised-read
2 uninitialised-read
3 waw-hazard
CASES
