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

bool is_special(u16 bits) {
  const u16 magnitude = bits & 0x7fff;
  return magnitude >= 0x7bff || magnitude == 0x7f7f || magnitude == 0;
}

// Whether a block may hold an infinity, a NaN or a largest value of f16, bf16 or f32, or a zero.
bool is_special(std::span<const std::byte> block) {
  if (block.size() == Origins::kBlock) {
    std::array<u16, Origins::kBlock / 2> all;
    std::memcpy(all.data(), block.data(), sizeof all);
    u16 any = 0;  // without branches, so that the compiler makes vector code of it
    for (const u16 bits : all)
      any |= static_cast<u16>(is_special(bits));
    return any != 0;
  }
  for (usize i = 0; i + 2 <= block.size(); i += 2) {
    u16 bits = 0;
    std::memcpy(&bits, &block[i], sizeof bits);
    if (is_special(bits)) return true;
  }
  return false;
}

// Calls f(block, first byte, bytes) for the blocks that hold some bytes.
template <class F>
void each_block(u64 begin, u64 bytes, F f) {
  for (u64 at = begin; at < begin + bytes;) {
    const u64 next = std::min((at / Origins::kBlock + 1) * Origins::kBlock, begin + bytes);
    f(at / Origins::kBlock, at, next - at);
    at = next;
  }
}

}  // namespace

u32 Origins::born(u32 task, const Site& site, NumericEvents events, bool replaced) {
  const auto [known, is_new] = known_.try_emplace({0, task, site}, static_cast<u32>(nodes_.size()));
  if (is_new) nodes_.push_back({.task = task, .site = site, .birth = known->second});
  nodes_[known->second].events |= events;
  nodes_[known->second].replaced |= replaced;
  return known->second;
}

u32 Origins::passed(u32 from, u32 task, const Site& site) {
  const Node source = nodes_[from];
  if (source.task == task && source.site == site) return from;
  const auto [known, is_new] = known_.try_emplace({source.birth, task, site}, static_cast<u32>(nodes_.size()));
  if (is_new) nodes_.push_back({.task = task, .site = site, .birth = source.birth, .parent = from});
  return known->second;
}

bool Origins::has_marks(Space space) const { return space.is_global() ? !global_.empty() : marks_of(space) != nullptr; }

u32 Origins::find(Space space, u64 block) const {
  if (space.is_global()) {
    const auto found = global_.find(block);
    return found == global_.end() ? 0 : found->second;
  }
  const std::vector<u32>* marks = marks_of(space);
  return marks == nullptr || block >= marks->size() ? 0 : (*marks)[block];
}

std::vector<u32>* Origins::marks_of(Space space) const {
  if (space.key_ == last_key_) return last_;
  const auto found = local_.find(space.key_);
  if (found == local_.end()) return nullptr;
  last_key_ = space.key_;
  last_ = const_cast<std::vector<u32>*>(&found->second);  // stays where it is
  return last_;
}

void Origins::mark(Space space, u64 block, u32 node) {
  const u32 before = find(space, block);
  if (before == node) return;
  marks_ += before == 0 ? 1 : 0;
  marks_ -= node == 0 ? 1 : 0;
  if (!space.is_global()) {
    std::vector<u32>* of_space = marks_of(space);
    std::vector<u32>& marks = of_space != nullptr ? *of_space : local_[space.key_];
    if (block >= marks.size()) marks.resize(block + 1);
    marks[block] = node;
  } else if (node == 0) {
    global_.erase(block);
  } else {
    global_[block] = node;
  }
}

u32 Origins::at(const Place& place, u64 bytes) const {
  if (!has_marks(place.space)) return 0;
  u32 first = 0;
  each_block(place.begin, bytes, [&](u64 block, u64, u64) {
    const u32 found = find(place.space, block);
    if (found != 0 && (first == 0 || found < first)) first = found;
  });
  return first;
}

void Origins::clear(const Place& place, u64 bytes) {
  if (!has_marks(place.space)) return;
  each_block(place.begin, bytes, [&](u64 block, u64, u64) { mark(place.space, block, 0); });
}

void Origins::wrote(const Place& place, std::span<const std::byte> contents, u32 node) {
  if (node == 0) return clear(place, contents.size());
  const bool all = hides(node);
  each_block(place.begin, contents.size(), [&](u64 block, u64 first, u64 bytes) {
    const bool marked = all || is_special(contents.subspan(first - place.begin, bytes));
    mark(place.space, block, marked ? node : 0);
  });
}

void Origins::copy(const Place& from, const Place& to, u64 bytes, u32 task) {
  if (!has_marks(from.space)) return clear(to, bytes);
  each_block(to.begin, bytes, [&](u64 block, u64 first, u64 size) {
    const u32 source = at({from.space, from.begin + (first - to.begin)}, size);
    const u32 node = source == 0 ? 0 : passed(source, task, {Site::kNoKernel, 0});
    if (node != 0 && to.space.is_host()) nodes_[node].leaves_the_device = true;
    mark(to.space, block, node);
  });
}

u32 Origins::read_by(const Footprint& footprint, const CoreMem& mem) const {
  u32 first = 0;
  for (const Access& a : footprint) {
    if (a.write && !a.atomic) continue;
    const Space space = a.buffer == BufId::GM ? Space::global() : Space::core(mem[a.buffer]);
    if (!has_marks(space)) continue;
    each_piece(a, [&](u64 address) {
      const u32 found = at({space, address}, a.len);
      if (found != 0 && (first == 0 || found < first)) first = found;
    });
  }
  return first;
}

void Origins::written_by(const Footprint& footprint, const CoreMem& mem, u32 node) {
  std::vector<std::byte> contents;
  for (const Access& a : footprint) {
    if (!a.write) continue;
    const bool global = a.buffer == BufId::GM;
    const Space space = global ? Space::global() : Space::core(mem[a.buffer]);
    each_piece(a, [&](u64 address) {
      if (node == 0) return clear({space, address}, a.len);
      if (!global) return wrote({space, address}, mem[a.buffer].bytes(address, a.len), node);
      contents.resize(a.len);
      mem.gm().read(address, contents);
      wrote({space, address}, contents, node);
    });
  }
}

void FollowedResults::read(u32 mark) {
  if (mark == 0 || (cause_ != 0 && cause_ <= mark)) return;
  cause_ = mark;
  point_.set_cause(mark);
}

u32 FollowedResults::node() {
  constexpr NumericEvents kReplaced = bit(NumericEvent::overflow) | bit(NumericEvent::nan);
  const NumericEvents born = point_.born();
  if (born != 0 && census_.origins == nullptr) census_.origins = std::make_shared<Origins>();
  if (census_.origins == nullptr) return 0;
  Origins& origins = *census_.origins;
  if (born != 0 && !origins.hides(cause_))
    return origins.born(task_, point_.id(), born, replaces_ && (born & kReplaced) != 0);
  return cause_ == 0 ? 0 : origins.passed(cause_, task_, point_.id());
}

}  // namespace vinci::isa
