#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# The example with find_package(Vinci) and with pkg-config, of a build folder and of an installation; and what the library
# shows. Usage: run.sh CMAKE BUILD_FOLDER SOURCES
set -e
cmake=$1 build=$2 sources=$3
fail() { echo "$*"; exit 1; }
rm -rf installed found
"$cmake" --install "$build" --prefix "$PWD/installed" > /dev/null
for prefix in "$build" "$PWD/installed"; do
  rm -rf found
  "$cmake" -S "$sources/project" -B found -DCMAKE_PREFIX_PATH="$prefix" > found.log || { cat found.log; exit 1; }
  "$cmake" --build found >> found.log || { cat found.log; exit 1; }
  found/example
  flags=$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --cflags --libs vinci)
  libdir=$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --variable=libdir vinci)
  cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$sources/example.c" $flags -o example
  LD_LIBRARY_PATH="$libdir" ./example
done
# The header is C and C++; the library shows the functions of the header and nothing else.
lib=installed/lib/libvinci.so
nm -D --defined-only "$lib" | awk '{ print $3 }' | sed 's/@.*//' | grep -v -e '^VINCI_0$' -e sc_main | sort > shown.txt
grep -o '\bvinci_[a-z_]*(' "$sources/../../tools/capi/include/vinci/vinci.h" | tr -d '(' | grep -v -e vinci_last_error_ | sort -u > declared.txt
diff shown.txt declared.txt || fail "the library does not show what the header declares"
readelf -d "$lib" | grep -q 'SONAME.*libvinci\.so\.0\]' || fail "the SONAME is not that of the major version"
