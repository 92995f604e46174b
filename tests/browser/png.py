# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Vinci authors
"""The pixels of a PNG as a browser writes it: 8 bits a channel, not interlaced."""
import struct
import zlib


def _paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


class Png:
    def __init__(self, data):
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        packed = b""
        at = 8
        while at < len(data):
            size, kind = struct.unpack(">I4s", data[at:at + 8])
            chunk = data[at + 8:at + 8 + size]
            if kind == b"IHDR":
                self.width, self.height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", chunk)
                assert depth == 8 and colour in (2, 6) and interlace == 0
                self.channels = 3 if colour == 2 else 4
            elif kind == b"IDAT":
                packed += chunk
            at += size + 12
        self.rows = self._unfilter(zlib.decompress(packed))

    def _unfilter(self, raw):
        n, stride = self.channels, self.width * self.channels
        rows, above = [], bytearray(stride)
        for y in range(self.height):
            kind = raw[y * (stride + 1)]
            row = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
            if kind == 2:
                row = bytearray((v + u) & 255 for v, u in zip(row, above))
            elif kind:
                for i in range(stride):
                    left = row[i - n] if i >= n else 0
                    corner = above[i - n] if i >= n else 0
                    guess = (left, 0, (left + above[i]) // 2, _paeth(left, above[i], corner))[kind - 1]
                    row[i] = (row[i] + guess) & 255
            rows.append(row)
            above = row
        return rows

    def __getitem__(self, xy):
        x, y = xy
        return tuple(self.rows[y][x * self.channels:x * self.channels + 3])
