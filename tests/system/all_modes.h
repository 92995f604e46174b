// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "models/soc/functional.h"
#include "models/soc/simulate.h"
#include "sim/task/run_memory.h"
#include "tests/support/path_check.h"
#include "tests/system/freeze_folder.h"

namespace vinci::test {

// What a run in mode full found out.
struct Outcome {
  models::Result result;
  std::vector<std::vector<std::byte>> host;  // final contents by buffer

  template <class T>
  std::vector<T> values(const task::TaskStream& stream, std::string_view buffer) const {
    for (usize i = 0; i < stream.buffers.size(); ++i) {
      if (stream.buffers[i].name != buffer) continue;
      std::vector<T> out(host[i].size() / sizeof(T));
      std::memcpy(out.data(), host[i].data(), out.size() * sizeof(T));
      return out;
    }
    ADD_FAILURE() << "no buffer " << buffer;
    return {};
  }
};

// Runs in the modes full, functional and timing, and expects what must hold for any task stream without races: the
// first two give the same bits, the first and the last the same time and counters, the time of each pipe adds up, and
// the critical path of each kernel explains its time.
inline Outcome run_all_modes(const config::ChipConfig& chip, const task::TaskStream& stream,
                             trace::Sink* trace = nullptr) {
  constexpr u64 kPlenty = std::numeric_limits<u64>::max();
  task::RunMemory full(stream, true), functional(stream, true), none(stream, false);
  Outcome out;
  out.result = models::simulate(chip, stream, full, {.max_cycles = kPlenty, .trace = trace, .progress = {}});
  models::run_functional(chip, stream, functional, {.max_cycles = kPlenty});
  for (u32 i = 0; i < stream.buffers.size(); ++i) {
    const auto a = full.host(i), b = functional.host(i);
    out.host.emplace_back(a.begin(), a.end());
    EXPECT_TRUE(std::ranges::equal(a, b)) << "functional differs in " << stream.buffers[i].name;
  }
  PathCheck paths;
  const models::Result timing = models::simulate(chip, stream, none, {.causes = &paths});
  EXPECT_EQ(out.result.cycles, timing.cycles);
  EXPECT_EQ(out.result.instructions, timing.instructions);
  EXPECT_EQ(out.result.stats, timing.stats);
  for (const models::PipeTime& p : out.result.pipes)
    EXPECT_EQ(p.busy + p.stalled + p.idle, out.result.cycles) << p.core << " " << isa::name(p.pipe);
  keep_for_freeze(chip, stream, out.result, out.host);
  return out;
}

}  // namespace vinci::test
