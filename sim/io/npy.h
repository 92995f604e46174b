// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/types.h"

// NumPy's .npy files, format versions 1.0 and 2.0, little endian and C order only. Source: numpy/doc/neps nep-0001.
namespace vinci::io {

// Element types by their NumPy names without byte order; the digit is the size in bytes. b1 is bool.
inline constexpr std::array<std::string_view, 12> kNpyTypes{"f2", "f4", "f8", "i1", "i2", "i4",
                                                            "i8", "u1", "u2", "u4", "u8", "b1"};
// Bytes of an element, 0 for an unknown type.
constexpr u64 npy_element_bytes(std::string_view dtype) {
  for (const std::string_view t : kNpyTypes) {
    if (t == dtype) return static_cast<u64>(t[1] - '0');
  }
  return 0;
}

// Bytes of an array; throws Fault::Input where the type is unknown or the product leaves 64 bits. An empty shape is
// one element.
u64 npy_bytes(std::string_view dtype, std::span<const u64> shape);

// What a header says.
struct NpyHeader {
  std::string dtype;       // one of kNpyTypes
  std::vector<u64> shape;  // empty: a single element
  u64 data_offset = 0;     // bytes in front of the elements
  u64 data_bytes = 0;      // of the elements

  friend bool operator==(const NpyHeader&, const NpyHeader&) = default;
};

// No header that we accept is longer.
inline constexpr u64 kNpyMaxHeaderBytes = 64 * 1024;

// Reads the header of a file of `file_bytes` bytes from its first bytes (all, or at least kNpyMaxHeaderBytes). Throws
// Fault::Input, located at `where`, unless the file is exactly header and elements.
NpyHeader parse_npy_header(std::span<const std::byte> head, u64 file_bytes, const std::string& where);

// Magic, version 1.0 and header, padded so that the elements start at a multiple of 64 bytes.
std::vector<std::byte> npy_header(std::string_view dtype, std::span<const u64> shape);

// A whole file; `data` must have the size that type and shape ask for (Fault::Input otherwise).
std::vector<std::byte> to_npy(std::string_view dtype, std::span<const u64> shape, std::span<const std::byte> data);

}  // namespace vinci::io
