#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# The library of Ascend C shows what its headers declare, and nothing of the simulator in it. Usage: symbols.sh LIBRARY INCLUDE
set -e
library=$1 include=$2
nm -DC --defined-only "$library" | cut -c 20- | sed 's/[(@].*//' | sort -u > shown.txt
grep -v -e '^acl' -e '^rt[A-Z]' -e '^vinci_kernel_' -e '^sc_main$' -e '^get_block_idx$' -e '^__truncsfbf2$' -e '^VINCI_ASCENDC_0$' shown.txt > own.txt
sed -n 's/^[[a-zA-Z].*[ *&]\([a-z_0-9]\{1,\}\)(.*);$/vinci::ascendc::\1/p' "$include/vinci/ascendc.h" | sort -u > declared.txt
diff own.txt declared.txt || { echo "the library does not show what vinci/ascendc.h declares"; exit 1; }
grep '^vinci_kernel_' shown.txt | while read -r name; do
  grep -q "$name[([]" "$include/vinci/kernel_code.h" || { echo "$name is shown and not declared"; exit 1; }
done
sed -n 's/.*\b\(\(acl\|rt[A-Z]\)[A-Za-z0-9]*\)(.*/\1/p' "$include"/acl/*.h "$include"/aclnn/*.h "$include"/runtime/*.h | sort -u > acl.txt
grep -e '^acl' -e '^rt[A-Z]' shown.txt | while read -r name; do
  grep -qx "$name" acl.txt || { echo "$name is shown and not declared"; exit 1; }
done
