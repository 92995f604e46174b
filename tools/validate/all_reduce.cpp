// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// One all-reduce of f16 over the cards of a server.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/task/stream_builder.h"
#include "tools/validate/family.h"
#include "tools/validate/timed_run.h"

namespace vinci::validate {
namespace {

Values measure_all_reduce(const Params& p, const config::ChipConfig& chip) {
  const u64 ranks = p.whole("ranks"), bytes = p.whole("bytes");
  task::StreamBuilder s("all_reduce", chip.arch, static_cast<u32>(ranks));
  std::vector<u32> cards(ranks);
  std::iota(cards.begin(), cards.end(), 0u);
  const u32 all = s.comm("world", cards).index;
  for (u32 r = 0; r < ranks; ++r) {
    const task::BufferRef x = s.device(fmt::format("x{}", r), bytes, r);
    s.stream(fmt::format("s{}", r), {.device = r})
        .add(task::Hccl{.comm = all, .send = x, .recv = x, .count = bytes / 2, .type = task::ElementType::float16});
  }
  const TimedRun run = run_timed(chip, s.finish().stream());
  u64 longest = 0;
  for (const models::TaskRecord& r : run.records)
    longest = std::max(longest, r.end - r.start);
  return {{"task", run.us(longest)}};
}

}  // namespace

Family all_reduce() {
  return {.name = "all_reduce",
          .doc = "one all-reduce of f16, in place",
          .parameters = {{"ranks", "", "", "cards"}, {"bytes", "B", "", "of the vector of each card"}},
          .metrics = {{"task", "us", "of the card that takes longest"}},
          .measure = measure_all_reduce};
}

}  // namespace vinci::validate
