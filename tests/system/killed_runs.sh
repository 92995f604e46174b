#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kills runs into one folder at random moments (SIGKILL), then lets one end: it must leave what a run into a new folder
# leaves, and nothing else.
# Usage: killed_runs.sh VINCI COUNT
set -euo pipefail
vinci=$1 count=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

"$vinci" gen gemm --m 256 --n 256 --k 256 --chip ascend-910b1 --seed 1 -o gemm >/dev/null
# Results are in a sub-folder.
sed -i 's/output: /output: results\/deep\//' gemm/gemm.yaml
run() { "$vinci" run gemm/gemm.yaml --chip ascend-910b1 --trace --profile --report -q --out "$1"; }
# Names of all files but what differs from run to run, with their sums.
files() { (cd "$1" && find . -type f ! -name run-info.json -exec sha256sum {} + | sort); }

begin=$(date +%s%N)
run whole
last=$((($(date +%s%N) - begin) / 1000000))

left=0 killed=0
for ((i = 0; i < count; ++i)); do
  "$vinci" run gemm/gemm.yaml --chip ascend-910b1 --trace --profile --report -q --out killed &
  pid=$!
  sleep "$(printf '0.%03d' $((RANDOM % (last < 1000 ? last : 1000))))"
  if kill -KILL $pid 2>/dev/null; then killed=$((killed + 1)); fi
  wait $pid 2>/dev/null || true
  left=$((left + $( (find killed -name '.*.vinci-tmp' 2>/dev/null || true) | wc -l)))
done

run killed
hidden=$(find killed -name '.*' ! -name killed | wc -l)
echo "$count runs, $killed killed, $left temporary files seen, $hidden left after the next run"
[ "$hidden" = 0 ]
diff <(files whole) <(files killed)
