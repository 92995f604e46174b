#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Configures, builds and runs the project with the CMake package ASC of a build folder, then with that of an installation.
# Usage: run.sh CMAKE BUILD_FOLDER PROJECT
set -e
cmake=$1 build=$2 project=$3
fail() { echo "$*"; exit 1; }

use() {  # PREFIX FOLDER
  rm -rf "$2"
  "$cmake" -S "$project" -B "$2" -DCMAKE_PREFIX_PATH="$1" -DCMAKE_ASC_RUN_MODE=sim > "$2.log" 2>&1 || { cat "$2.log"; exit 1; }
  "$cmake" --build "$2" >> "$2.log" 2>&1 || { cat "$2.log"; exit 1; }
  for program in scale scale_shared; do
    VINCI_MODE=full VINCI_RUN_OPTIONS="--check --trace" VINCI_OUTPUT="$2/out-$program" "$2/$program"
    # Instructions have the lines of the files that they are in.
    grep -q 'vmuls.*tile.h:8\b' "$2/out-$program/instructions.csv" || fail "no vmuls of tile.h:8"
    grep -q 'copy_gm_to_ubuf.*scale.asc:20\b' "$2/out-$program/instructions.csv" || fail "no copy of scale.asc:20"
  done
}

use "$build" built
# Nothing has changed, so nothing is built again; a header that has makes the kernel new.
"$cmake" --build built > again.log
grep -q "Building" again.log && fail "built again without a reason"
mkdir -p copy && cp "$project"/* copy/
"$cmake" -S copy -B copied -DCMAKE_PREFIX_PATH="$build" > /dev/null
"$cmake" --build copied > /dev/null
sleep 1 && touch copy/tile.h
"$cmake" --build copied > again.log
grep -q "Building ASC object.*scale.asc" again.log || fail "a changed header is not noticed"

# Debugging on the host: bits, no time.
"$cmake" -S "$project" -B debug -DCMAKE_PREFIX_PATH="$build" -DCMAKE_ASC_RUN_MODE=cpu > /dev/null
"$cmake" --build debug > /dev/null
(cd debug && rm -rf out && ./scale && [ ! -e out ]) || fail "mode cpu simulates time"

# There is no NPU.
"$cmake" -S "$project" -B npu -DCMAKE_PREFIX_PATH="$build" -DCMAKE_ASC_RUN_MODE=npu > npu.log 2>&1 && fail "mode npu is accepted"
grep -q "CMAKE_ASC_RUN_MODE=sim" npu.log || fail "mode npu: the message does not help"
"$cmake" -S "$project" -B other -DCMAKE_PREFIX_PATH="$build" -DCMAKE_ASC_ARCHITECTURES=dav-3510 > other.log 2>&1 && fail "dav-3510 is accepted"
grep -q "dav-2201" other.log || fail "dav-3510: the message does not help"

rm -rf installed
"$cmake" --install "$build" --prefix "$PWD/installed" > /dev/null
use "$PWD/installed" from_installed
ldd from_installed/scale | grep -q "$PWD/installed/lib/libvinci_ascendc.so" || fail "the installed library is not used"
