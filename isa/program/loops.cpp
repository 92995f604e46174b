// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/program/loops.h"

#include <algorithm>
#include <tuple>

#include "isa/base/error.h"
#include "isa/table/codec.h"

namespace vinci::isa {
namespace {

__extension__ typedef __int128 Wide;

}  // namespace

LoopTree::LoopTree(std::span<const Loop> loops, usize stored) {
  nodes_.reserve(loops.size() + 1);
  nodes_.push_back({.first = 0, .length = static_cast<u32>(stored)});
  std::vector<u32> open{0};
  u32 before = 0;
  for (u32 i = 0; i < loops.size(); ++i) {
    const Loop& l = loops[i];
    const u64 end = u64{l.first} + l.length;
    if (l.length == 0 || end > stored) fail(Fault::Input, "loop {} is not one of instructions of the program", i);
    if (l.count == 0) fail(Fault::Input, "loop {} has no turns", i);
    if (l.first < before) fail(Fault::Input, "loop {} begins before the loop that is stated before it", i);
    before = l.first;
    const auto end_of = [&](u32 n) { return u64{nodes_[n].first} + nodes_[n].length; };
    while (open.size() > 1 && l.first >= end_of(open.back()))
      open.pop_back();
    if (end > end_of(open.back())) fail(Fault::Input, "loop {} is partly in another one", i);
    if (open.size() > kMaxLoopDepth) fail(Fault::Input, "loops are nested more than {} deep", kMaxLoopDepth);
    nodes_[open.back()].inner.push_back(i + 1);
    nodes_.push_back({.first = l.first, .length = l.length, .count = l.count, .depth = static_cast<u32>(open.size())});
    open.push_back(i + 1);
  }
  // Inner loops come behind those around them.
  for (usize n = nodes_.size(); n-- > 0;)
    positions_ = measure(nodes_[n]);
}

u64 LoopTree::measure(Node& node) {
  u32 at = node.first;
  for (const u32 i : node.inner) {
    Node& inner = nodes_[i];
    node.turn += inner.first - at;
    inner.begin = node.turn;
    node.turn += inner.positions();
    at = inner.first + inner.length;
  }
  node.turn += node.first + node.length - at;
  if (node.turn > kMaxPositions || node.turn * node.count > kMaxPositions)
    fail(Fault::Input, "with the turns of its loops the program has more than {} instructions", kMaxPositions);
  return node.positions();
}

Run LoopTree::find(u64 at) const {
  Run out;
  const Node* node = nodes_.data();
  u64 begin = 0;  // of the turn
  while (true) {
    // The last inner loop that begins at the position or before it.
    const auto next = std::ranges::upper_bound(node->inner, at - begin, {}, [&](u32 i) { return nodes_[i].begin; });
    u64 from = 0;
    u32 first = node->first;
    if (next != node->inner.begin()) {
      const Node& inner = nodes_[*std::prev(next)];
      from = inner.begin + inner.positions();
      first = inner.first + inner.length;
      if (at - begin < from) {
        const u64 turn = (at - begin - inner.begin) / inner.turn;
        begin += inner.begin + turn * inner.turn;
        out.turns[out.depth++] = static_cast<u32>(turn);
        node = &inner;
        continue;
      }
    }
    const u64 end = next != node->inner.end() ? nodes_[*next].begin : node->turn;
    out.begin = static_cast<u32>(begin + from);
    out.length = static_cast<u32>(end - from);
    out.first = first;
    if (out.depth > 0 && node->inner.empty()) out.left = node->count - 1 - out.turns[out.depth - 1];
    return out;
  }
}

u64 LoopTree::position(u32 stored) const {
  const Node* node = nodes_.data();
  u64 begin = 0;
  while (true) {
    const auto next = std::ranges::upper_bound(node->inner, stored, {}, [&](u32 i) { return nodes_[i].first; });
    if (next == node->inner.begin()) return begin + stored - node->first;
    const Node& inner = nodes_[*std::prev(next)];
    if (stored >= inner.first + inner.length)
      return begin + inner.begin + inner.positions() + stored - inner.first - inner.length;
    begin += inner.begin;
    node = &inner;
  }
}

bool LoopTree::outside(u64 at) const {
  const std::vector<u32>& outer = nodes_.front().inner;
  const auto next = std::ranges::upper_bound(outer, at, {}, [&](u32 i) { return nodes_[i].begin; });
  if (next == outer.begin()) return true;
  const Node& before = nodes_[*std::prev(next)];
  return at == before.begin || at >= before.begin + before.positions();
}

std::vector<u32> LoopTree::around(u32 stored) const {
  std::vector<u32> out;
  const Node* node = nodes_.data();
  while (true) {
    const auto next = std::ranges::upper_bound(node->inner, stored, {}, [&](u32 i) { return nodes_[i].first; });
    if (next == node->inner.begin()) return out;
    const Node& inner = nodes_[*std::prev(next)];
    if (stored >= inner.first + inner.length) return out;
    out.push_back(*std::prev(next) - 1);
    node = &inner;
  }
}

// An operand grows evenly, so its extremes are in the first or the last turn of each loop.
bool fits_always(const FieldInfo& field, u64 value, std::span<const Stride> strides, std::span<const Loop> loops) {
  if (field.width >= 64) return true;
  Wide least = field.is_signed ? Wide{static_cast<i64>(value)} : Wide{value}, most = least;
  for (const Stride& s : strides) {
    const Wide grown = Wide{static_cast<i64>(s.by)} * (loops[s.loop].count - 1);
    (grown < 0 ? least : most) += grown;
  }
  const Wide half = Wide{1} << (field.width - 1);
  return field.is_signed ? least >= -half && most < half : least >= 0 && most < 2 * half;
}

void verify_loops(const Program& p) {
  if (p.loops.empty() && p.strides.empty()) return;
  const LoopTree tree(p.loops, p.code.size());
  if (p.strides.size() > kMaxStrides)
    fail(Fault::Input, "the program has {} strides; at most {} are possible", p.strides.size(), kMaxStrides);
  const auto order = [](const Stride& s) { return std::tuple(s.inst, s.loop, s.field); };
  for (usize i = 0; i < p.strides.size(); ++i) {
    const Stride& s = p.strides[i];
    if (s.inst >= p.code.size() || s.loop >= p.loops.size() || s.field >= kMaxOperands)
      fail(Fault::Input, "stride {} is of no instruction, no loop or no operand of the program", i);
    if (i > 0 && order(p.strides[i - 1]) >= order(s)) fail(Fault::Input, "stride {} is not in its order", i);
    if (s.by == 0) fail(Fault::Input, "stride {} adds nothing", i);
    if (const Loop& l = p.loops[s.loop]; s.inst < l.first || s.inst - l.first >= l.length)
      fail(Fault::Input, "stride {}: loop {} does not repeat instruction {}", i, s.loop, s.inst);
  }
  for (usize i = 0; i < p.strides.size();) {
    usize end = i;
    while (end < p.strides.size() && p.strides[end].inst == p.strides[i].inst)
      ++end;
    const Inst inst = decode(p.code[p.strides[i].inst]);
    std::vector<Stride> of_field;
    for (usize f = 0; f < kMaxOperands; ++f) {
      of_field.clear();
      std::copy_if(p.strides.begin() + static_cast<std::ptrdiff_t>(i),
                   p.strides.begin() + static_cast<std::ptrdiff_t>(end), std::back_inserter(of_field),
                   [&](const Stride& s) { return s.field == f; });
      if (of_field.empty()) continue;
      if (f >= inst.row->fields.size()) fail(Fault::Input, "{} has no operand {}", inst.row->name, f);
      const FieldInfo& field = inst.row->fields[f];
      if (inst.operands[f].is_reg || (field.kind != OperandKind::value && field.kind != OperandKind::event))
        fail(Fault::Input, "{}: '{}' cannot have a stride; only numbers can", inst.row->name, field.name);
      if (!fits_always(field, inst.operands[f].value, of_field, p.loops))
        fail(Fault::Input, "{}: '{}' does not fit its {} bits in all turns of its loops", inst.row->name, field.name,
             field.width);
    }
    i = end;
  }
  u32 seen = 0;
  for (const Loop& l : p.loops) {
    for (u32 i = std::max(l.first, seen); i < l.first + l.length; ++i, seen = i) {
      const Row& row = *decode(p.code[i]).row;
      if (std::ranges::any_of(row.fields, [](const FieldInfo& f) { return f.kind == OperandKind::label; }))
        fail(Fault::Input, "{} is in a loop; branches cannot be repeated", row.name);
    }
  }
}

u64 positions(const Program& p) {
  return p.loops.empty() ? p.code.size() : LoopTree(p.loops, p.code.size()).positions();
}

Program unfold(const Program& p, u64 limit) {
  if (p.loops.empty()) return p;
  verify_loops(p);
  const LoopTree tree(p.loops, p.code.size());
  if (tree.positions() > limit) {
    fail(Fault::Limit, "with the turns of its loops the program has {} instructions, more than {}", tree.positions(),
         limit);
  }
  Program out{.arch = p.arch, .source = p.source, .code = {}, .lines = {}, .labels = p.labels, .included = p.included};
  for (u64 at = 0; at < tree.positions();) {
    const Run run = tree.find(at);
    const std::vector<u32> around = tree.around(run.first);
    for (u32 i = run.first; i < run.first + run.length; ++i) {
      Inst inst = decode(p.code[i]);
      auto s = std::ranges::lower_bound(p.strides, i, {}, &Stride::inst);
      for (; s != p.strides.end() && s->inst == i; ++s) {
        const auto level = static_cast<usize>(std::ranges::find(around, s->loop) - around.begin());
        inst.operands[s->field].value += s->by * run.turns[level];
      }
      out.code.push_back(encode(inst));
      out.lines.push_back(p.lines[i]);
      if (!p.files.empty()) out.files.push_back(p.files[i]);
    }
    at += run.length;
  }
  return out;
}

}  // namespace vinci::isa
