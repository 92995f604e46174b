// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Any bytes are refused as wrong input, or are an array of a size that its header says, which survives writing.
#include <algorithm>
#include <vector>

#include "isa/base/error.h"
#include "sim/io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const vinci::u8* data, vinci::usize size) {
  using namespace vinci;
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  io::NpyHeader header;
  try {
    // As a reader of large files does it: from the beginning alone.
    header = io::parse_npy_header(bytes.first(std::min<usize>(size, io::kNpyMaxHeaderBytes)), size, "fuzz.npy");
  } catch (const Error& e) {
    if (e.fault() != Fault::Input) throw;
    return 0;
  }
  VINCI_CHECK(header == io::parse_npy_header(bytes, size, "fuzz.npy"));
  VINCI_CHECK(header.data_offset + header.data_bytes == size);
  VINCI_CHECK(io::npy_bytes(header.dtype, header.shape) == header.data_bytes);
  const std::vector<std::byte> again = io::to_npy(header.dtype, header.shape, bytes.subspan(header.data_offset));
  const io::NpyHeader second = io::parse_npy_header(again, again.size(), "again.npy");
  VINCI_CHECK(second.dtype == header.dtype && second.shape == header.shape && second.data_bytes == header.data_bytes);
  return 0;
}
