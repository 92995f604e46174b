// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/origins.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace vinci::isa {
namespace {

// Calls f(address) for each piece of an access.
template <class F>
void each_piece(const Access& a, F f) {
  for (u32 k = 0; k < a.count[2]; ++k) {
    for (u32 j = 0; j < a.count[1]; ++j) {
      for (u32 i = 0; i < a.count[0]; ++i)
        f(a.address + static_cast<u64>(i * a.stride[0] + j * a.stride[1] + k * a.stride[2]));
    }
  }
}

// Whether a block may hold an infinity, a NaN or a largest value of f16, bf16 or f32, or a zero.
bool is_special(std::span<const std::byte> block, bool zeros) {
  for (usize i = 0; i + 2 <= block.size(); i += 2) {
    u16 bits = 0;
    std::memcpy(&bits, &block[i], sizeof bits);
    const u16 magnitude = bits & 0x7fff;
    if (magnitude >= 0x7bff || magnitude == 0x7f7f || (zeros && magnitude == 0)) return true;
  }
  return false;
}

}  // namespace

u32 Origins::born(u32 task, const Site& site, NumericEvents events) {
  const auto [known, is_new] = known_.try_emplace({0, task, site}, static_cast<u32>(nodes_.size()));
  if (is_new) nodes_.push_back({.task = task, .site = site, .birth = known->second});
  nodes_[known->second].events |= events;
  return known->second;
}

u32 Origins::passed(u32 from, u32 task, const Site& site) {
  const Node source = nodes_[from];
  if (source.task == task && source.site == site) return from;
  const auto [known, is_new] = known_.try_emplace({source.birth, task, site}, static_cast<u32>(nodes_.size()));
  if (is_new) nodes_.push_back({.task = task, .site = site, .birth = source.birth, .parent = from});
  return known->second;
}

u32& Origins::slot(Space space, u64 block) {
  if (space == nullptr) return global_[block];
  std::vector<u32>& marks = local_[space];
  if (marks.empty()) marks.resize(space->size() / kBlock + 1);
  return marks.at(block);
}

u32 Origins::find(Space space, u64 block) const {
  if (space == nullptr) {
    const auto found = global_.find(block);
    return found == global_.end() ? 0 : found->second;
  }
  const auto marks = local_.find(space);
  return marks == local_.end() || block >= marks->second.size() ? 0 : marks->second[block];
}

u32 Origins::at(Space space, u64 begin, u64 bytes) const {
  if (bytes == 0 || (space == nullptr ? global_.empty() : !local_.contains(space))) return 0;
  u32 first = 0;
  for (u64 block = begin / kBlock; block <= (begin + bytes - 1) / kBlock; ++block) {
    const u32 found = find(space, block);
    if (found != 0 && (first == 0 || found < first)) first = found;
  }
  return first;
}

void Origins::mark(Space space, u64 block, u32 node) {
  if (node == 0) {
    if (find(space, block) == 0) return;
    --marks_;
    if (space == nullptr) {
      global_.erase(block);
    } else {
      slot(space, block) = 0;
    }
    return;
  }
  u32& now = slot(space, block);
  if (now == 0) ++marks_;
  now = node;
}

void Origins::clear(Space space, u64 begin, u64 bytes) {
  if (bytes == 0 || (space == nullptr ? global_.empty() : !local_.contains(space))) return;
  for (u64 block = begin / kBlock; block <= (begin + bytes - 1) / kBlock; ++block)
    mark(space, block, 0);
}

void Origins::copy(u64 from, u64 to, u64 bytes, u32 task) {
  if (empty()) return;
  const auto blocks = (bytes + kBlock - 1) / kBlock;
  for (u64 i = 0; i < blocks; ++i) {
    const u32 source = find(nullptr, from / kBlock + i);
    mark(nullptr, to / kBlock + i, source == 0 ? 0 : passed(source, task, {Site::kNoKernel, 0}));
  }
}

void Origins::leave(u64 from, u64 bytes, u32 task) {
  if (empty() || bytes == 0) return;
  for (u64 block = from / kBlock; block <= (from + bytes - 1) / kBlock; ++block) {
    const u32 source = find(nullptr, block);
    if (source != 0) nodes_[passed(source, task, {Site::kNoKernel, 0})].leaves_the_device = true;
  }
}

u32 Origins::read_by(const Footprint& footprint, const CoreMem& mem) const {
  u32 first = 0;
  for (const Access& a : footprint) {
    if (a.write && !a.atomic) continue;
    const Space space = a.buffer == BufId::GM ? nullptr : &mem[a.buffer];
    if (space == nullptr ? global_.empty() : !local_.contains(space)) continue;
    each_piece(a, [&](u64 address) {
      const u32 found = at(space, address, a.len);
      if (found != 0 && (first == 0 || found < first)) first = found;
    });
  }
  return first;
}

void Origins::written_by(const Footprint& footprint, const CoreMem& mem, u32 node) {
  const bool zeros = node != 0 && has(nodes_[nodes_[node].birth].events, NumericEvent::flushed);
  for (const Access& a : footprint) {
    if (!a.write) continue;
    const Space space = a.buffer == BufId::GM ? nullptr : &mem[a.buffer];
    each_piece(a, [&](u64 address) {
      if (node == 0) return clear(space, address, a.len);
      for (u64 at = address; at < address + a.len; at = (at / kBlock + 1) * kBlock) {
        std::array<std::byte, kBlock> bytes{};
        const auto piece = std::span(bytes).first(std::min(address + a.len, (at / kBlock + 1) * kBlock) - at);
        if (space == nullptr) {
          mem.gm().read(at, piece);
        } else {
          std::memcpy(piece.data(), space->bytes(at, piece.size()).data(), piece.size());
        }
        mark(space, at / kBlock, is_special(piece, zeros) ? node : 0);
      }
    });
  }
}

}  // namespace vinci::isa
