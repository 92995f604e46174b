#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# `vinci cc` from a folder whose name C++ and a shell would read otherwise, and its exit codes. Usage:
# compiler.sh TOOL SOURCE
set -e
tool=$1 source=$2
fail() { echo "$*"; exit 1; }
folder='a "quoted\" $(x) folder'
rm -rf compiler && mkdir -p "compiler/$folder/bin" && cd compiler
cp "$tool" "$folder/bin/vinci"
ln -s "$(dirname "$(dirname "$tool")")/lib" "$folder/lib"
"./$folder/bin/vinci" cc "$source" -o app
VINCI_OUTPUT=out ./app
grep -q cycles out/summary.txt || fail "the program did not find its tool"

# Faults of the source are wrong input; 1 is a missed criterion of a study.
expect() {  # CODE TEXT COMMAND...
  code=$1 text=$2 status=0
  shift 2
  "$@" > said.txt 2>&1 || status=$?
  [ "$status" -eq "$code" ] || { cat said.txt; fail "exit code $status, not $code: $*"; }
  grep -qF -- "$text" said.txt || { cat said.txt; fail "no '$text': $*"; }
}
echo 'int x = ;' > bad.asc
echo 'int f(); int main() { return f(); }' > unresolved.asc
expect 2 "bad.asc:1" "$tool" cc -c bad.asc
expect 2 "undefined reference" "$tool" cc unresolved.asc
expect 2 "no-such.asc" "$tool" cc no-such.asc
expect 2 "cannot run clang++-19: install the package clang-19" env PATH=/no/such/folder "$tool" cc bad.asc
mkdir -p other && printf '#!/bin/sh\nkill -9 $$\n' > other/clang++-19 && chmod +x other/clang++-19
expect 7 "was ended by a signal" env PATH="$PWD/other:$PATH" "$tool" cc bad.asc
