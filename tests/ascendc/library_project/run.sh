#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Builds and runs the project with ascendc.cmake of a build folder. Usage: run.sh CMAKE BUILD_FOLDER PROJECT
set -e
cmake=$1 build=$2 project=$3
fail() { echo "$*"; exit 1; }
rm -rf library_project && mkdir library_project && cd library_project

configure() {  # FOLDER OPTION...
  folder=$1
  shift
  "$cmake" -S "$project" -B "$folder" -DASCEND_CANN_PACKAGE_PATH="$build" "$@" > "$folder.log" 2>&1
}
use() {  # FOLDER CHIP OPTION...
  folder=$1 chip=$2
  shift 2
  configure "$folder" -DRUN_MODE=sim -DSOC_VERSION="$chip" "$@" || { cat "$folder.log"; exit 1; }
  "$cmake" --build "$folder" > "$folder.log" 2>&1 || { cat "$folder.log"; exit 1; }
  VINCI_MODE=full VINCI_RUN_OPTIONS=--check VINCI_OUTPUT="$folder/out" "$folder/main" > "$folder.log"
  cat "$folder.log"
  grep -q "^$chip: 0 wrong" "$folder.log" || fail "$folder: not run on $chip"
}
refused() {  # TEXT OPTION...
  text=$1
  shift
  rm -rf refused
  configure refused "$@" && fail "accepted: $*"
  tr '\n' ' ' < refused.log | tr -s ' ' | grep -qF -- "$text" || { cat refused.log; fail "no '$text'"; }
}

use shared Ascend910B1
use static Ascend910B4 -DLIBRARY_TYPE=STATIC
use other_chip Ascend310P3
[ -z "$(find . -name 'aclrtlaunch_commented_out.h')" ] || fail "a comment is taken for a kernel"

# A program of the folder above that of the kernels.
mkdir parent
cat > parent/CMakeLists.txt << END
cmake_minimum_required(VERSION 3.16)
project(parent)
add_subdirectory("$project" kernels)
add_executable(above "$project/main.cpp")
target_link_libraries(above PRIVATE kernels_sim ascendcl)
END
"$cmake" -S parent -B above -DASCEND_CANN_PACKAGE_PATH="$build" -DRUN_MODE=sim -DLIBRARY_TYPE=STATIC > above.log 2>&1 &&
  "$cmake" --build above --target above >> above.log 2>&1 || { cat above.log; exit 1; }
VINCI_MODE=functional above/above

refused "-DRUN_MODE=sim" -DRUN_MODE=npu
refused "SOC_VERSION=Ascend950: Vinci has" -DRUN_MODE=sim -DSOC_VERSION=Ascend950
refused "ascendc_fatbin_library() is not supported by Vinci" -DRUN_MODE=sim -DFATBIN=ON
