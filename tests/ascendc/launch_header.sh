#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Host code includes aclrtlaunch_NAME.h, which a build makes. Usage: launch_header.sh TOOL FOLDER
set -e
tool=$1 folder=$2
rm -rf launch_header && mkdir launch_header && cd launch_header
"$tool" cc -I "$folder/../kernels" "$folder/launch_header_main.cpp" "$folder/launch_header.asc" -o together
VINCI_MODE=full VINCI_OUTPUT=out VINCI_RUN_OPTIONS=--check ./together
"$tool" cc -I "$folder/../kernels" -c "$folder/launch_header_main.cpp" -o main.o
"$tool" cc -c "$folder/launch_header.asc" -o kernel.o
"$tool" cc main.o kernel.o -o apart
VINCI_MODE=functional ./apart
# Arguments that a kernel does not take.
refused() {
  "$tool" cc -I "$folder/../kernels" "-DWRONG=$1" -c "$folder/launch_header_main.cpp" -o wrong.o
  "$tool" cc wrong.o kernel.o -o wrong
  status=0
  VINCI_MODE=functional ./wrong 2> stderr.txt || status=$?
  cat stderr.txt
  [ "$status" -eq 3 ] || { echo "exit code $status"; exit 1; }
  grep -qF "$2" stderr.txt || { echo "no '$2'"; exit 1; }
}
refused "dz, &tiling, 2" "tell takes 4 arguments, not 3"
grep -q "launch_header_main.cpp:3[0-9]:" stderr.txt
refused "dz, 5, 2, pair" "tell takes a struct of 32 bytes, by value or by a pointer to it as argument 2, not a whole number"
refused "dz, &pair, 2, pair" "as argument 2, not a pointer to 4 bytes"
refused "dz, tiling, dz, pair" "tell takes a number of 2 bytes as argument 3, not a pointer to 4 bytes"
refused "2, tiling, 2, pair" "tell takes a pointer as argument 1, not a whole number"
# By name, from a binary.
"$tool" cc -I "$folder/../kernels" -c "$folder/launch_by_name_main.cpp" -o by_name_main.o
"$tool" cc by_name_main.o kernel.o -o by_name
VINCI_MODE=full VINCI_OUTPUT=by_name_out VINCI_RUN_OPTIONS=--check ./by_name
