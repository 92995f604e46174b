// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include "isa/base/error.h"
#include "sim/io/npy.h"
#include "sim/task/load.h"
#include "sim/task/write.h"

// What both fuzz harnesses of task streams do with their bytes.
namespace vinci::task::fuzz {

inline std::vector<std::byte> to_bytes(std::string_view s) {
  const auto* begin = reinterpret_cast<const std::byte*>(s.data());
  return {begin, begin + s.size()};
}

// Bytes are accepted or refused with Fault::Input or Unsupported; what is accepted survives both spellings. Anything
// else aborts.
inline void check(const u8* data, usize size, const std::string& name) {
  const MemoryFiles files({{"a.npy", io::to_npy("f2", std::vector<u64>{2, 3}, std::vector<std::byte>(12))},
                           {"b.bin", std::vector<std::byte>(10)},
                           {"k.s", to_bytes("  ld_arg X1, 0\n  end\n")}});
  TaskStream s;
  try {
    s = parse_task_stream({reinterpret_cast<const std::byte*>(data), size}, name, files);
  } catch (const Error& e) {
    if (e.fault() != Fault::Input && e.fault() != Fault::Unsupported) std::abort();
    return;
  }
  if (!(parse_task_stream(to_vts(s), "again.vts", files) == s)) std::abort();
  const std::string yaml = to_yaml(s);
  if (!same_meaning(parse_task_stream(to_bytes(yaml), "again.yaml", files), s)) std::abort();
}

}  // namespace vinci::task::fuzz
