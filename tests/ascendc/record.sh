#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# A recorded program runs again without its source: the same cycles and bits as the program itself, on another chip other
# cycles and the same bits. And what `vinci sim` shows of a run. Usage: record.sh TOOL SOURCE
set -e
tool=$1 source=$2
fail() { echo "$*"; exit 1; }
rm -rf record && mkdir record && cd record
cycles() { sed -n 's/^  "cycles": \([0-9]*\),$/\1/p' "$1/stats.json"; }
same_results() { for f in "$1"/*.bin; do cmp "$f" "$2/$(basename "$f")" || fail "other bits"; done; }

"$tool" cc "$source" -o app
VINCI_MODE=full VINCI_OUTPUT=direct ./app
"$tool" record -o app.vts ./app 2> record.txt
cat record.txt
rm app
"$tool" run app.vts --chip ascend-910b1 --out again -q
cmp direct/stats.json again/stats.json || fail "a recording has another time than the program"
same_results direct again
ls direct/*.bin > /dev/null  # there are results
"$tool" run app.vts --chip ascend-910b4 --out other -q
same_results direct other
[ "$(cycles direct)" -ne "$(cycles other)" ] || fail "another chip takes as long"
# What repeats is stated once.
ratio=$(sed -n 's/.*(\([0-9]*\)\.[0-9]* to 1).*/\1/p' record.txt)
[ "$ratio" -ge 5 ] || fail "folded only $ratio to 1"

# Without data there is time.
"$tool" cc "$source" -o app
"$tool" record --no-data -o small.vts ./app 2> /dev/null
"$tool" run small.vts --chip ascend-910b1 --mode timing --out timing -q
[ "$(cycles direct)" -eq "$(cycles timing)" ] || fail "without data another time"
# Other modes are refused, also where the task stream has become text and a file again.
"$tool" pack small.vts -o small.yaml > /dev/null
"$tool" pack small.yaml -o again.vts > /dev/null
for stream in small again; do
  for mode in full functional; do
    status=0
    "$tool" run $stream.vts --chip ascend-910b1 --mode $mode --out none -q 2> no_data.txt || status=$?
    [ "$status" -eq 2 ] && grep -q "without the contents of its buffers" no_data.txt ||
      fail "without data, $stream.vts, mode $mode: $status $(cat no_data.txt)"
  done
done

# The same program on another chip; one of another architecture is refused.
"$tool" sim --soc-version=Ascend910B4 --output=sim --kernel-name="tile|none" --core-id="1|2" -q ./app
[ "$(cycles other)" -eq "$(cycles sim)" ] || fail "sim has another time than the recording"

# Charges for the code of the API are keys of the chip.
charged() { "$tool" sim --soc-version=Ascend910B4 --output="$1" --kernel-name=none "--set=core.scalar.api.$1=$2" -q ./app; }
charged call 2
[ "$(cycles call)" -eq "$(cycles sim)" ] || fail "a call is not charged with 2 cycles"
for key in call queue; do
  charged $key 100
  [ "$(cycles $key)" -gt "$(cycles sim)" ] || fail "core.scalar.api.$key has no effect"
done

shown=$(cd sim/OPPROF_*/simulator && ls -d core*.*core* | tr '\n' ' ')
[ "$shown" = "core1.veccore0 core1.veccore1 core2.veccore0 core2.veccore1 " ] || fail "shown: $shown"
"$tool" sim --output=none --kernel-name=other -q --application="./app"
[ "$(cd none/OPPROF_*/simulator && ls)" = trace.json ] || fail "a kernel is shown that was not asked for"
"$tool" msprof op simulator --soc-version=Ascend910B4 --output=alias --mstx=on --timeout=10 -q ./app 2> alias.txt
[ "$(cycles alias)" -eq "$(cycles sim)" ] && grep -q "mstx has no effect" alias.txt || fail "msprof op simulator is not sim"
status=0
"$tool" sim --timeout=0.01 sleep 100 2> late.txt || status=$?
[ "$status" -eq 7 ] && grep -q "longer than 0.01 minutes" late.txt || fail "no timeout: $status $(cat late.txt)"
"$tool" sim --timeout=1 false && fail "the code of the program is lost"
status=0
"$tool" sim --soc-version=Ascend310P3 ./app 2> refused.txt || status=$?
[ "$status" -eq 2 ] && grep -q "compile it again" refused.txt || fail "another architecture: $(cat refused.txt)"
