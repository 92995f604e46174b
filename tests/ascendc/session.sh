#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# A program that asks for times while it works leaves the files that `vinci run` makes of its recording, and its answers are
# the times in them. Usage: session.sh TOOL SOURCE
set -e
tool=$1 source=$2
fail() { echo "$*"; exit 1; }
rm -rf session && mkdir session && cd session
"$tool" cc "$source" -o app

# folder, mode, options of the run
compare() {
  VINCI_MODE=$2 VINCI_OUTPUT="$1" VINCI_RUN_OPTIONS="$3" ./app > "$1.txt" || fail "$1: wrong results"
  "$tool" run "$1/stream.vts" --chip ascend-910b1 --mode "$2" --out "$1.again" -q $3
  rm "$1/run-info.json" "$1.again/run-info.json" "$1/stream.vts"
  diff -r "$1" "$1.again" || fail "$1: other files than those of vinci run"
}
compare timing timing "--profile=csv"
compare full full "--check --numerics --report"
cmp timing.txt full.txt || fail "the modes have other times"

# Ends of the records, in cycles, from the statistics; between neighbours: the answers.
grep -A8 '"name": "EventRecord"' timing/stats.json | sed -n 's/.*"end": \([0-9]*\).*/\1/p' > ends.txt
hertz=$(sed -n 's/.*"clock_hz": \([0-9.e+]*\),.*/\1/p' timing/stats.json)
[ "$(wc -l < ends.txt)" -eq 6 ] && [ "$(wc -l < timing.txt)" -eq 5 ] || fail "not 6 records and 5 times"
awk -v hertz="$hertz" 'NR > 1 { printf "%d\n", $1 - last } { last = $1 }' ends.txt > cycles.txt
awk -v hertz="$hertz" '{ printf "%d\n", $1 / 1000 * hertz + 0.5 }' timing.txt > answers.txt
diff answers.txt cycles.txt || fail "an answer is not the time of the recording"
sort -n cycles.txt | uniq | wc -l | grep -qx 5 || fail "the times do not differ"
