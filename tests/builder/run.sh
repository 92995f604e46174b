#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# examples/builder with find_package(Vinci COMPONENTS builder), of a build folder and of an installation; which headers
# are installed, and what the library shows. Usage: run.sh CMAKE BUILD_FOLDER ROOT
set -e
cmake=$1 build=$2 root=$3
fail() { echo "$*"; exit 1; }
configure() {  # SOURCES PREFIX
  rm -rf found
  "$cmake" -S "$1" -B found -DCMAKE_PREFIX_PATH="$2" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Wshadow -Werror" > found.log 2>&1
}
rm -rf installed
"$cmake" --install "$build" --prefix "$PWD/installed" > /dev/null
for prefix in "$build" "$PWD/installed"; do
  configure "$root/examples/builder" "$prefix" || { cat found.log; exit 1; }
  "$cmake" --build found >> found.log || { cat found.log; exit 1; }
  rm -rf vector_add
  found/vector_add > example.log || { cat example.log; exit 1; }
done
# The saved folder is the same run.
in_process=$(sed -n 's/^\([0-9]*\) cycles, 0 wrong$/\1/p' example.log)
[ -n "$in_process" ] || { cat example.log; fail "the example does not say its cycles"; }
"$build/tools/vinci/vinci" run --chip ascend-910b1 vector_add/vector_add.yaml --out run > run.log
grep -q "\"cycles\": *$in_process\b" run/stats.json || fail "vinci run has other cycles than $in_process"
# Errors keep their type on the way out of the library.
c++ -std=c++20 "$root/tests/builder/errors.cpp" -Iinstalled/include -Linstalled/lib -lvinci_builder \
  "-Wl,-rpath,$PWD/installed/lib" -o errors
./errors > errors.txt || fail "an error of the library is no vinci::Error: $(cat errors.txt)"
# A component that does not exist is refused.
configure "$root/tests/builder/unknown" "$PWD/installed" && fail "an unknown component is found"
grep -q "Vinci has no component 'nothing'" found.log || { cat found.log; exit 1; }
# The installed headers are those that <vinci/builder.h> includes, each compiles alone, and none needs another include path.
cd installed/include
find vinci -name '*.h' ! -path vinci/vinci.h | sort > ../installed.txt
echo '#include <vinci/builder.h>' | c++ -std=c++20 -I. -M -x c++ - | tr ' ' '\n' | grep -o 'vinci/.*\.h$' | sort -u > ../included.txt
cd ../..
diff installed/installed.txt installed/included.txt || fail "installed and included headers differ"
while read -r header; do
  echo "#include <$header>" | c++ -std=c++20 -Iinstalled/include -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Werror -x c++ - ||
    fail "$header does not compile alone"
done < installed/installed.txt
# The library shows the classes of these headers and no more.
lib=installed/lib/libvinci_builder.so
nm -DC --defined-only "$lib" | cut -d' ' -f3- | sed 's/@@.*//' | grep -v '^VINCI_BUILDER_0_1$' > shown.txt
classes='BuiltProgram|Expr|ProgramBuilder|Value|BuiltStream|StreamBuilder|StreamFiles|StreamRef|ThreadRef'
grep -vE "^((vtable|typeinfo|typeinfo name) for )?vinci::(isa|task)::($classes|InstructionCalls)\b" shown.txt |
  grep -vE '^((vtable|typeinfo|typeinfo name) for vinci::Error|vinci::isa::f16\(float\)|vinci::isa::operator!\(.*|vinci::task::to_string\(.*)$' &&
  fail "the library shows more than its classes"
# Without optimisation the standard library's templates have functions of their own.
grep -n '::State' shown.txt | grep -v ' std::' && fail "the library shows what its classes keep inside"
for class in $(echo "$classes" | tr '|' ' '); do
  grep -q "^vinci::.*::$class::" shown.txt || fail "the library does not show $class"
done
readelf -d "$lib" | grep -q 'SONAME.*libvinci_builder\.so\.0\.1\]' || fail "the SONAME is not that of the minor version"
