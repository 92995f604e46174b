#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# packages.sh SOURCE BUILD VERSION: builds the Debian packages and the wheel, and uses them from a folder that they are unpacked into.
set -euo pipefail
source=$1 build=$2 version=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed() { echo "FAILED: $*" >&2; exit 1; }

(cd "$build" && cpack -B "$folder/packages" >"$folder/cpack.log" 2>&1) || { cat "$folder/cpack.log"; failed cpack; }
for package in vinci libvinci-dev python3-vinci; do
  deb=$(ls "$folder/packages/${package}_${version}"*.deb) || failed "there is no package $package"
  dpkg-deb -f "$deb" Depends Description | tee "$folder/$package.txt"
  dpkg-deb -x "$deb" "$folder/root"
done
grep -q libsystemc "$folder/vinci.txt" || failed "the tool does not depend on SystemC"
usr=$folder/root/usr

echo "== the tool"
cd "$folder"
begin=$(date +%s%N)
"$usr/bin/vinci" gen gemm --m 256 --n 256 --k 256 -o gemm
"$usr/bin/vinci" run gemm/gemm.yaml --out out --quiet
echo "a number after $((($(date +%s%N) - begin) / 1000000)) ms"
test -s out/c.npy || failed "no result"
for file in share/man/man1/vinci.1 share/man/man1/vinci-run.1 share/doc/vinci/README.md \
  share/doc/vinci/copyright share/vinci/examples/axpy.asc share/vinci/task_stream.fbs share/bash-completion/completions/vinci; do
  [ -s "$usr/$file" ] || failed "$file is not installed"
done
grep -qF '\-\-set' "$usr/share/man/man1/vinci-run.1" || failed "the manual page has no options"

echo "== completion"
complete_words() {  # what bash offers for these words
  bash -c 'source "$1"; COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _vinci; echo "${COMPREPLY[@]}"' \
    - "$usr/share/bash-completion/completions/vinci" "$@"
}
[ "$(complete_words vinci gen gem)" = gemm ] || failed "gen gem is not completed"
[ "$(complete_words vinci run --chip ascend-310p)" = ascend-310p3 ] || failed "chips are not completed"
[ "$(complete_words vinci run x.yaml --over)" = "$("$usr/bin/vinci" run --help | grep -o -- '--over[a-z]*' | head -1)" ] || failed "options"

echo "== a program in Ascend C"
"$usr/bin/vinci" cc "$usr/share/vinci/examples/axpy.asc" -o axpy
./axpy >/dev/null

echo "== the Python module, found by its .pth file, and the schema's module beside it"
/usr/bin/python3 - "$usr/lib/python3/dist-packages" <<'PYTHON'
import site, sys
site.addsitedir(sys.argv[1])
import vinci
assert vinci.__file__.startswith(sys.argv[1].removesuffix("/lib/python3/dist-packages")), vinci.__file__
print(vinci.Chip("ascend-910b1").name)
PYTHON
grep -q "class Chip" "$usr/lib/python/vinci.pyi" || failed "there are no types for editors"
flatc --python -o flat "$usr/share/vinci/task_stream.fbs"
test -e flat/vinci_vts/TaskStream.py || failed "the schema's module has another name"

echo "== C, C++ and SystemC by CMake"
cmake -S "$source/tests/install/platform" -B platform -DCMAKE_PREFIX_PATH="$usr" >cmake.log 2>&1 || { cat cmake.log; failed cmake; }
cmake --build platform >build.log 2>&1 || { cat build.log; failed "the build of a platform"; }
./platform/platform

echo "== the wheel"
/usr/bin/python3 "$source/tools/install/wheel.py" "$build" "$version" wheels
/usr/bin/python3 - wheels/*.whl <<'PYTHON'
import sys, tempfile, zipfile
folder = tempfile.mkdtemp()
zipfile.ZipFile(sys.argv[1]).extractall(folder)
sys.path.insert(0, folder)
import vinci
assert vinci.__file__.startswith(folder), vinci.__file__
assert not [line for line in open("/proc/self/maps") if "libvinci" in line and folder not in line]
print(vinci.Chip("tiny").name)
PYTHON
