#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
# Objects name their kernels in the section __aicore_rel_binary; a program loads such files and launches kernels by key.
# Usage: registered.sh TOOL FOLDER
set -e
tool=$1 folder=$2
fail() { echo "$*"; exit 1; }
rm -rf registered && mkdir registered && cd registered
"$tool" cc -c -fPIC --cce-aicore-arch=dav-c220-vec -DVECTOR_HALF "$folder/registered.asc" -o aiv.o
"$tool" cc -c -fPIC --cce-aicore-arch=dav-c220-cube "$folder/registered.asc" -o aic.o
"$tool" cc -shared aiv.o aic.o -o libkernels.so
for o in aiv aic; do
  objcopy -O binary --only-section=__aicore_rel_binary --set-section-flags __aicore_rel_binary=alloc $o.o $o.bin
  readelf -sW $o.bin > $o.txt
done
grep -q 'FUNC .* fill_42_mix_aiv' aiv.txt && grep -q 'FUNC .* fill_7' aiv.txt || fail "aiv.o does not name its kernels"
readelf -SW aic.bin | grep -q '\.ascend\.meta\.fill_42_mix_aic' || fail "aic.o has no record"
# One file of both, as build steps of programs make it.
python3 - aic.bin aiv.bin both.bin <<'PY'
import struct, sys
def parts(name):
    data = open(name, 'rb').read()
    shoff, = struct.unpack_from('<Q', data, 0x28)
    number, names = struct.unpack_from('<HH', data, 0x3c)
    heads = [struct.unpack_from('<IIQQQQIIQQ', data, shoff + 64 * i) for i in range(number)]
    text = lambda s, at: data[s[4] + at:data.index(b'\0', s[4] + at)]
    out = {text(heads[names], h[0]).decode(): data[h[4]:h[4] + h[5]] for h in heads}
    return out
a, b = parts(sys.argv[1]), parts(sys.argv[2])
strings = a['.strtab'] + b['.strtab']
symbols = a['.symtab'][:]
for at in range(24, len(b['.symtab']), 24):
    name, rest = struct.unpack_from('<I', b['.symtab'], at)[0], b['.symtab'][at + 4:at + 24]
    symbols += struct.pack('<I', name + len(a['.strtab'])) + rest
sections = [('', b'', 0, 0)] + [(n, v, 7, 0) for n, v in {**a, **b}.items() if n.startswith('.ascend.meta')]
sections += [('.symtab', symbols, 2, len(sections) + 1), ('.strtab', strings, 3, 0)]
titles = b'\0' + b''.join(n.encode() + b'\0' for n, *_ in sections) + b'.shstrtab\0'
sections.append(('.shstrtab', titles, 3, 0))
body, heads = b'', b''
for name, data, kind, link in sections:
    at = titles.index(b'\0' + name.encode() + b'\0') + 1 if name else 0
    heads += struct.pack('<IIQQQQIIQQ', at, kind, 0, 0, 64 + len(body), len(data), link, 1, 1, 24 if kind == 2 else 0)
    body += data
head = b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 1, 0, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64,
                                                  len(sections), len(sections) - 1)
open(sys.argv[3], 'wb').write(head + body + heads)
PY
"$tool" cc "$folder/registered_main.cpp" ./libkernels.so -o app
LD_LIBRARY_PATH=. VINCI_MODE=functional ./app aiv.bin both.bin
