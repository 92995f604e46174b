// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// One all-reduce of f16 over the cards of a server.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "sim/task/load.h"
#include "tools/validate/family.h"
#include "tools/validate/timed_run.h"

namespace vinci::validate {
namespace {

Values measure(const Params& p, const config::ChipConfig& chip) {
  const u64 ranks = p.whole("ranks"), bytes = p.whole("bytes");
  std::string s =
      fmt::format("vinci: 1\nname: all_reduce\narch: {}\ndevices: {}\nbuffers:\n", isa::name(chip.arch), ranks);
  std::string streams = "streams:\n";
  for (u64 r = 0; r < ranks; ++r) {
    s += fmt::format("  x{0}: {{place: device, device: {0}, bytes: {1}}}\n", r, bytes);
    streams += fmt::format("  s{0}:\n    device: {0}\n    tasks:\n", r);
    streams +=
        fmt::format("      - hccl: {{op: all_reduce, send: x{0}, recv: x{0}, count: {1}, dtype: f2}}\n", r, bytes / 2);
  }
  s += streams;
  const TimedRun run =
      run_timed(chip, task::parse_task_stream(std::as_bytes(std::span(s)), "all_reduce", task::MemoryFiles()));
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
          .measure = measure};
}

}  // namespace vinci::validate
