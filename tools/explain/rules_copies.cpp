// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Rules about copies from and to global memory.
#include <array>

#include "tools/explain/rules.h"

namespace vinci::explain {
namespace {

using isa::PipeId;
using models::CostKind;
using models::SiteSums;

bool is_copy(const SiteSums& s) { return s.global && s.pipe != PipeId::S && s.count > 0; }

// Share of the path in copies from and to global memory.
double copies(const Facts& f) {
  return f.share({CostKind::mte2, CostKind::mte3, CostKind::l2, CostKind::l2_busy, CostKind::hbm_latency,
                  CostKind::hbm_busy, CostKind::port});
}

std::optional<Advice> short_bursts(const Facts& f) {
  constexpr u64 kBurst = 512;  // a line of L2
  const auto all = f.sites(is_copy);
  const auto bad =
      f.sites([](const SiteSums& s) { return is_copy(s) && s.bursts >= 8 * s.count && s.bytes < kBurst * s.bursts; });
  const double share = copies(f);
  if (bad.sum.bursts == 0 || 3 * bad.sum.cycles < all.sum.cycles || share < 0.2) return std::nullopt;
  // Reads take a request for each piece; writes are collected, so that their gain depends on what else L2 does.
  std::optional<double> gain;
  if (f.copies_in() >= f.share({CostKind::mte3})) {
    gain = share * static_cast<double>(bad.sum.cycles) / static_cast<double>(all.sum.cycles) *
           (1 - static_cast<double>(bad.sum.bytes) / static_cast<double>(kBurst * bad.sum.bursts));
  }
  return Advice{.rule = "short-bursts",
                .found = fmt::format("copies move pieces of {} B, at {} ({}); each is a request of its own, and L2 "
                                     "serves 512 B at the same cost",
                                     bad.sum.bytes / bad.sum.bursts, bad.place, bad.what),
                .todo =
                    "copy whole rows or blocks that are contiguous in global memory, 512 B or more a piece; "
                    "change the layout of the tensor or the axis that blocks share",
                .share = share,
                .gain = gain};
}

std::optional<Advice> small_tiles(const Facts& f) {
  constexpr u64 kTile = 16 * 1024;
  const bool in = f.copies_in() >= f.share({CostKind::mte3});  // the path is about copies of this direction
  const auto small = f.sites([&](const SiteSums& s) {
    return is_copy(s) && (s.pipe == PipeId::MTE2) == in && s.bytes < kTile * s.count && s.bytes >= 512 * s.bursts;
  });
  const auto all = f.sites([&](const SiteSums& s) { return is_copy(s) && (s.pipe == PipeId::MTE2) == in; });
  const double share = copies(f);
  if (small.sum.count < 8 * std::max<u64>(1, f.log.blocks_asked) || 2 * small.sum.cycles < all.sum.cycles ||
      share < 0.3)
    return std::nullopt;
  // What does not grow with the bytes: starts, latencies, and what else each tile takes.
  const double each = 1 - std::min(1.0, f.share({CostKind::port, CostKind::hbm_busy, CostKind::l2_busy}));
  return Advice{
      .rule = "tile-too-small",
      .found = fmt::format("{} copies move {} B each, at {} ({}); start and latency are paid for each", small.sum.count,
                           small.sum.bytes / small.sum.count, small.place, small.what),
      .todo = "choose larger tiles, 16 KiB or more a copy, as far as the local buffers allow",
      .share = each,
      .gain = each * (1 - static_cast<double>(small.sum.bytes) / static_cast<double>(kTile * small.sum.count))};
}

std::optional<Advice> same_address(const Facts& f) {
  const auto same = f.sites([](const SiteSums& s) { return is_copy(s) && s.blocks > 1 && s.same_address; });
  const double share = f.share({CostKind::l2_busy});
  if (same.sum.count == 0 || share < 0.1) return std::nullopt;
  return Advice{.rule = "same-address",
                .found = fmt::format("{} blocks access the same lines at {} ({}) at the same time; one slice of L2 "
                                     "serves them one after the other",
                                     same.sum.blocks, same.place, same.what),
                .todo = "let each block begin at another tile (rotate the order by the number of the block)",
                .share = share,
                .gain = share};
}

std::optional<Advice> memory_bandwidth(const Facts& f) {
  const double share = f.share({CostKind::hbm_busy});
  if (share < 0.3) return std::nullopt;
  const auto all = f.sites(is_copy);
  return Advice{
      .rule = "memory-bandwidth",
      .found = fmt::format("device memory is busy; the copies move {} B, most at {}", all.sum.bytes, all.place),
      .todo =
          "move fewer bytes: fuse the kernel with its neighbours, keep data that are read again in L2 or "
          "in local buffers, use a smaller type",
      .share = share};
}

constexpr std::array<Rule, 4> kCopyRules{short_bursts, small_tiles, same_address, memory_bandwidth};

}  // namespace

std::span<const Rule> rules_of_copies() { return kCopyRules; }

}  // namespace vinci::explain
