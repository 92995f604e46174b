// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Rules about blocks and cores.
#include <algorithm>
#include <array>

#include "tools/explain/rules.h"

namespace vinci::explain {
namespace {

using models::BlockLog;
using models::CostKind;

// Cycles from the first instruction of a block to its end.
u64 length(const BlockLog& b) { return b.end() - b.start().begin; }

std::optional<Advice> waves(const Facts& f) {
  const u32 blocks = f.log.blocks_asked, slots = f.log.slots;
  if (slots == 0 || blocks <= slots || blocks % slots == 0) return std::nullopt;
  const u32 turns = ceil_div(blocks, slots);
  const double idle = 1 - static_cast<double>(blocks) / (static_cast<double>(turns) * slots);
  if (idle < 0.1) return std::nullopt;
  return Advice{.rule = "waves",
                .found = fmt::format("{} blocks run on {} cores in {} turns; in the last turn {} cores are idle",
                                     blocks, slots, turns, turns * slots - blocks),
                .todo = fmt::format("launch {} blocks, or a multiple of it, and let each loop over more tiles", slots),
                .share = idle,
                .gain = idle};
}

std::optional<Advice> few_blocks(const Facts& f) {
  const u32 blocks = f.log.blocks_asked, slots = f.log.slots;
  if (4 * blocks > 3 * slots) return std::nullopt;
  return Advice{.rule = "idle-cores",
                .found = fmt::format("{} of {} cores have no block", slots - blocks, slots),
                .todo = "split the work over all cores: more blocks, or split K where rows and columns are few",
                .share = 1 - static_cast<double>(blocks) / slots,
                .gain = 1 - static_cast<double>(blocks) / slots};
}

// Blocks of one turn that take longer than the mean.
std::optional<Advice> imbalance(const Facts& f) {
  if (f.log.parts > 1 || f.log.blocks_asked < 2 || f.log.blocks_asked > f.log.slots) return std::nullopt;
  u64 sum = 0, longest = 0;
  const BlockLog* slowest = nullptr;
  for (const BlockLog& b : f.log.blocks) {
    sum += length(b);
    if (length(b) <= longest) continue;
    longest = length(b);
    slowest = &b;
  }
  const double mean = static_cast<double>(sum) / static_cast<double>(f.log.blocks.size());
  const double share = 1 - mean / static_cast<double>(std::max<u64>(1, longest));
  if (slowest == nullptr || share < 0.2) return std::nullopt;
  return Advice{.rule = "imbalance",
                .found = fmt::format("block {} on {} takes {} cycles, the mean of all blocks {:.0f}", slowest->block(),
                                     slowest->core(), longest, mean),
                .todo = "give each block the same work, also the tail: tiles in turn to blocks, not a whole range each",
                .share = share,
                .gain = share};
}

std::optional<Advice> short_kernel(const Facts& f) {
  u64 fixed = 0;
  for (const CostKind k : {CostKind::launch, CostKind::program_start})
    fixed += f.path.cycles[static_cast<usize>(k)];
  u64 cold = f.path.cycles[static_cast<usize>(CostKind::cold_start)];
  const double share = static_cast<double>(fixed) / static_cast<double>(std::max<u64>(1, f.time() - cold));
  if (share < 0.4) return std::nullopt;
  return Advice{.rule = "short-kernel",
                .found = fmt::format("launch and start of the program are {:.0f} % of the time without the cold start",
                                     100 * share),
                .todo = "fuse the kernel with its neighbours, or launch fewer blocks",
                .share = share};
}

constexpr std::array<Rule, 4> kCoreRules{waves, few_blocks, imbalance, short_kernel};

}  // namespace

std::span<const Rule> rules_of_cores() { return kCoreRules; }

}  // namespace vinci::explain
