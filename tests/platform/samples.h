// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/timed_run.h"

// Task streams for the platform, none of which says what is in its host buffers.
namespace vinci::test {

inline task::Buffer buffer(std::string name, u64 bytes, task::Buffer::Place place) {
  task::Buffer b;
  b.name = std::move(name);
  b.bytes = bytes;
  b.place = place;
  return b;
}

inline task::MemcpyAsync copy(task::Slice dst, task::Slice src, u64 bytes) {
  return {.dst = dst, .src = src, .width = bytes, .dst_pitch = bytes, .src_pitch = bytes};
}

// "in" of the host goes to the device, from one buffer there to another, and back to "out".
inline task::TaskStream there_and_back(const config::ChipConfig& chip, u64 bytes) {
  task::TaskStream s;
  s.name = "there_and_back";
  s.arch = chip.arch;
  using Place = task::Buffer::Place;
  s.buffers = {buffer("in", bytes, Place::host), buffer("a", bytes, Place::device), buffer("b", bytes, Place::device),
               buffer("out", bytes, Place::host)};
  s.streams.push_back({.name = "s",
                       .tasks = {{.name = "in", .op = copy({.buffer = 1}, {.buffer = 0}, bytes)},
                                 {.name = "move", .op = copy({.buffer = 2}, {.buffer = 1}, bytes)},
                                 {.name = "out", .op = copy({.buffer = 3}, {.buffer = 2}, bytes)}}});
  return s;
}

inline std::vector<u8> pattern(u64 bytes, u32 seed = 1) {
  std::vector<u8> out(bytes);
  for (u8& b : out)
    b = static_cast<u8>((seed = seed * 1664525 + 1013904223) >> 24);
  return out;
}

}  // namespace vinci::test
