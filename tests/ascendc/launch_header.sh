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
