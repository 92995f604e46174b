// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/links/schedule_builder.h"

#include <algorithm>

namespace vinci::models {

ScheduleBuilder::ScheduleBuilder(u32 ranks, u64 work, u64 piece) : piece_(piece), memories_(ranks) {
  schedule_.ranks = ranks;
  schedule_.work = work;
  schedule_.input.resize(ranks);
  schedule_.output.resize(ranks);
  for (Memory& m : memories_)
    m[0] = {.end = work, .before = {}, .writers = {}, .readers = {}};
}

std::vector<u32> ScheduleBuilder::add(const Move& move, std::span<const u32> after) {
  std::vector<u32> pieces;
  const u64 size = piece_ == 0 ? move.count : std::max(piece_, (move.count + kMaxPieces - 1) / kMaxPieces);
  for (u64 done = 0; done < move.count; done += size) {
    Move piece = move;
    piece.src += done;
    piece.dst += done;
    piece.count = std::min(size, move.count - done);
    pieces.push_back(static_cast<u32>(schedule_.transfers.size()));
    add_piece(piece, after);
  }
  return pieces;
}

// Cuts the history at an element; returns what begins there.
ScheduleBuilder::Memory::iterator ScheduleBuilder::split(Memory& memory, u64 at) {
  const auto next = memory.lower_bound(at);
  if (next != memory.end() && next->first == at) return next;
  const auto it = std::prev(next);
  if (at >= it->second.end) return next;
  History tail = it->second;
  it->second.end = at;
  return memory.emplace(at, std::move(tail)).first;
}

void ScheduleBuilder::add_piece(const Move& move, std::span<const u32> after) {
  const auto id = static_cast<u32>(schedule_.transfers.size());
  std::vector<u32> depends(after.begin(), after.end());
  const auto wait_for = [&](const std::vector<u32>& ids) { depends.insert(depends.end(), ids.begin(), ids.end()); };
  const auto each = [&](u32 rank, u64 begin, auto visit) {
    Memory& memory = memories_[rank];
    const auto last = split(memory, begin + move.count);
    for (auto it = split(memory, begin); it != last; ++it)
      visit(it->second);
  };
  each(move.from, move.src, [&](History& h) {
    wait_for(h.writers);
    h.readers.push_back(id);
  });
  each(move.to, move.dst, [&](History& h) {
    if (!(move.reduce && h.reduced && h.readers.empty())) {
      h.before = std::move(h.writers);
      h.before.insert(h.before.end(), h.readers.begin(), h.readers.end());
      h.writers.clear();
      h.readers.clear();
      h.reduced = move.reduce;
    }
    h.writers.push_back(id);
    wait_for(h.before);
  });
  std::ranges::sort(depends);
  depends.erase(std::unique(depends.begin(), depends.end()), depends.end());
  schedule_.transfers.push_back({.step = move.step,
                                 .from = move.from,
                                 .to = move.to,
                                 .reduce = move.reduce,
                                 .src = move.src,
                                 .dst = move.dst,
                                 .count = move.count,
                                 .depends = std::move(depends)});
}

}  // namespace vinci::models
