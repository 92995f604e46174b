// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/row_selection.h"

#include <cmath>
#include <utility>

#include "isa/numeric/float16.h"
#include "tools/graph/kernels/vector_ops.h"
#include "tools/graph/kernels/vector_writer.h"

namespace vinci::graph {

using isa::PipeId, isa::Reg, isa::Type;

double Selection::last() const { return largest ? -INFINITY : INFINITY; }

isa::Value Selection::number(double value) const {
  if (type == DataType::f16) return isa::f16(value);
  return isa::f32(static_cast<float>(value));
}

SelectionWriter::SelectionWriter(const Node& node, const Selection& selection, isa::Arch arch, u64 rows)
    : node_(node),
      s_(selection),
      rows_(rows),
      p_(node.name, arch),
      scores_(take(sorted_rows() * s_.bytes())),
      keys_(s_.largest ? scores_ : take(sorted_rows() * s_.bytes())),
      records_(take(sorted_rows() * s_.unit.record_bytes)),
      scratch_(take(sorted_rows() * s_.unit.record_bytes)),
      best_at_(take(s_.long_rows() ? 2 * s_.kept() * s_.unit.record_bytes : 0)),
      other_at_(take(s_.long_rows() ? 2 * s_.kept() * s_.unit.record_bytes : 0)) {}

isa::BuiltProgram SelectionWriter::write() {
  in_ = p_.arg("in");
  if (s_.scores) out_scores_ = p_.arg("scores");
  if (s_.positions) out_positions_ = p_.arg("positions");
  const Reg batch = p_.reg("batch"), step = p_.reg("step");
  count_ = p_.reg("count"), t_ = p_.reg("t"), source_ = p_.reg("source");
  best_ = p_.reg("best"), other_ = p_.reg("other");
  prepare();
  fill_scores();
  p_.hand_over(PipeId::V, PipeId::MTE2, 0);
  p_.get_block_idx(batch);
  p_.get_block_num(step);
  p_.loop(batch, batches(), step, [&] {
    p_.mul(count_, batch, rows_);
    p_.mul(source_, count_, s_.width * s_.bytes());
    p_.add(source_, source_, in_);
    p_.sub(count_, s_.rows, count_);
    p_.min(count_, count_, rows_);
    if (s_.long_rows()) {
      sort_long_row();
    } else {
      load(count_, s_.width);
      p_.mov(best_, sort());
    }
    store(batch);
  });
  p_.end_block();
  return p_.finish();
}

void SelectionWriter::fill_scores() {
  in_repeats(p_, s_.bytes() == 4, sorted_rows(), [&](u64 first, u64 repeats) {
    p_.vector_dup(s_.lane(), scores_ + first * s_.bytes(), s_.number(s_.last()), repeats, 1, 1, 8, 8);
  });
}

void SelectionWriter::negate(u64 to, u64 from, u64 elements) {
  in_repeats(p_, s_.bytes() == 4, elements, [&](u64 first, u64 repeats) {
    p_.vmuls(s_.lane(), to + first * s_.bytes(), from + first * s_.bytes(), s_.number(-1), repeats, 1, 1, 8, 8);
  });
}

// The bits of the number of a lane, one after the other; then twice as many lanes each time.
void SelectionWriter::count_lanes(Type type, u64 at) {
  static constexpr std::array<u64, 6> kBits{0xaaaa'aaaa'aaaa'aaaa, 0xcccc'cccc'cccc'cccc, 0xf0f0'f0f0'f0f0'f0f0,
                                            0xff00'ff00'ff00'ff00, 0xffff'0000'ffff'0000, 0xffff'ffff'0000'0000};
  constexpr u64 kFirst = 64;
  const bool halves = type == Type::f16;
  const u64 bytes = halves ? 2 : 4, tile = s_.tile();
  const auto number = [&](u64 n) { return halves ? isa::Value(isa::f16(static_cast<double>(n))) : isa::Value(n); };
  set_mask(p_, kFirst);
  p_.vector_dup(type, at, number(0), 1, 1, 1, 8, 8);
  barrier();
  for (u64 bit = 0; (u64{1} << bit) < std::min(tile, kFirst); ++bit) {
    p_.set_vector_mask(0, kBits[bit]);
    p_.vadds(type, at, at, number(u64{1} << bit), 1, 1, 1, 8, 8);
    barrier();
  }
  set_mask(p_, kLanes16);
  for (u64 done = kFirst; done < sorted_rows(); done *= 2) {
    in_repeats(p_, !halves, std::min(done, sorted_rows() - done), [&](u64 first, u64 repeats) {
      p_.vadds(type, at + (done + first) * bytes, at + first * bytes, number(done < tile ? done : 0), repeats, 1, 1, 8,
               8);
    });
  }
}

u64 SelectionWriter::sort() {
  const u64 records = sorted_rows();
  if (!s_.largest) negate(keys_, scores_, records);
  sort_repeats(records / s_.unit.sorted);
  barrier();
  u64 from = records_, to = scratch_;
  for (u64 length = s_.unit.sorted; length < s_.tile(); length *= 4) {
    const u64 bytes = length * s_.unit.record_bytes;
    merge(to, {from, from + bytes, from + 2 * bytes, from + 3 * bytes}, records / (4 * length), length, 15);
    barrier();
    std::swap(from, to);
  }
  return from;
}

// The first tile fills the list of the best records.
void SelectionWriter::sort_long_row() {
  const u64 tiles = s_.width / s_.unit.tile, rest = s_.width % s_.unit.tile;
  const isa::ProgramBuilder::Scope scope(p_.scope());
  const Reg base = p_.reg("base"), tile = p_.reg("tile");
  p_.mov(base, 0);
  p_.mov(tile, 0);
  sort_tile(base, tile, s_.unit.tile);
  p_.mov(best_, best_at_);
  p_.mov(other_, other_at_);
  p_.copy_ubuf_to_ubuf(best_, list_, 0, 1, s_.kept() * s_.unit.record_bytes / 32, 0, 0);
  barrier();
  const auto next = [&](u64 elements) {
    p_.add(base, base, s_.unit.tile);
    p_.add(tile, tile, 1);
    p_.add(source_, source_, s_.unit.tile * s_.bytes());
    if (elements < s_.unit.tile) fill_scores();
    p_.hand_over(PipeId::V, PipeId::MTE2, 0);
    sort_tile(base, tile, elements);
    merge_best();
  };
  p_.loop(tiles - 1, [&](Reg) { next(s_.unit.tile); });
  if (rest > 0) next(rest);
}

void SelectionWriter::sort_tile(Reg base, Reg tile, u64 elements) {
  load(1, elements);
  number_tile(base, tile);
  list_ = sort();
}

void SelectionWriter::merge_best() {
  merge(other_, {best_, list_, list_, list_}, 1, s_.kept(), 3);
  barrier();
  p_.mov(t_, best_);
  p_.mov(best_, other_);
  p_.mov(other_, t_);
}

}  // namespace vinci::graph
