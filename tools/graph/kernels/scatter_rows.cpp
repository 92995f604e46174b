// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "tools/graph/kernels/scalar_writer.h"
#include "tools/graph/kernels/vector_ops.h"
#include "tools/graph/kernels/vector_writer.h"
#include "tools/graph/ops/op.h"
#include "tools/graph/passes/match.h"

// ScatterNdUpdate of whole rows, such as of a cache of keys or of sums over the neighbours in a graph. Each core has a
// range of the rows of the result: it copies them, and then goes through all updates in their order and stores those of
// its range. So cores need not wait for each other, and of updates of the same row the last one stays.
namespace vinci::graph {
namespace {

using isa::PipeId, isa::Reg, isa::Type;

constexpr u64 kScatterBlock = 32;
constexpr u64 kMostRowBytes = u64{24} << 10;
constexpr u64 kCopyBytes = u64{32} << 10;  // of the input at once
constexpr u32 kRowSlots = 4;
constexpr u64 kIndexBytes = u64{8} << 10;  // of positions at once
constexpr u64 kUpdateBytes = kRowSlots * kMostRowBytes + kIndexBytes;

struct ScatteredRows {
  explicit ScatteredRows(const Node& node)
      : dims(node.output()->shape.dims()),
        depth(static_cast<usize>(node.input(1)->shape.dims().back())),
        rows(element_count(std::span(dims).first(depth))),
        width(element_count(std::span(dims).subspan(depth))),
        updates(depth == 0 ? 0 : node.input(1)->shape.elements() / depth),
        bytes(info(node.output()->type).bytes),
        how(node.string("reduction", "none")) {}

  u64 row_bytes() const { return width * bytes; }
  u64 slot_bytes() const { return align_up<u64>(row_bytes(), 256); }  // whole repeats

  const Dims& dims;
  usize depth;
  u64 rows, width, updates;
  u64 bytes;  // of an element
  std::string how;
};

std::string_view vector_instruction(std::string_view how) {
  return how == "add" ? "vadd" : how == "mul" ? "vmul" : how == "max" ? "vmax" : how == "min" ? "vmin" : "";
}

std::string scatter_rows_refuse(const Group& group, const config::ChipConfig& chip) {
  if (group.nodes().size() != 1) return "it has several nodes";
  const Node& node = group.node();
  if (node.type != "ScatterNdUpdate") return "it scatters nothing";
  if (std::max(kUpdateBytes, 2 * kCopyBytes) > chip.core.buffers.ub) return "UB has no room for it";
  if (group.inputs().size() != 3) return "an operand is a number, or two are one tensor";
  for (const auto* const list : {&group.inputs(), &group.outputs()}) {
    for (const Value* const v : *list) {
      if (!v->shape.known()) return fmt::format("the extents of {} are not known", v->name);
      if (v->format != isa::Format::ND) return fmt::format("{} is not in ND", v->name);
    }
  }
  const ScatteredRows x(node);
  if (x.rows == 0 || x.width == 0 || x.updates == 0) return "it scatters nothing";
  if (x.bytes == 1) return "its elements have one byte";
  if (x.row_bytes() < kScatterBlock) return "its rows are shorter than a block of 32 B";
  if (x.row_bytes() > kMostRowBytes) return fmt::format("its rows have more than {} bytes", kMostRowBytes);
  if (is_joint(chip) && x.row_bytes() % kScatterBlock != 0)
    return "a joint core copies whole blocks, and its rows are no whole blocks";
  const DataType type = node.output()->type;
  if (x.how != "none" && (vector_instruction(x.how).empty() || (type != DataType::f16 && type != DataType::f32)))
    return fmt::format("no vector instructions for updates of {} with {}", info(type).name, x.how);
  return "";
}

std::vector<Tiling> scatter_tilings(const Group&, const config::ChipConfig&) { return {{}}; }

Footprint scatter_footprint(const Group&, const config::ChipConfig&, const Tiling&) {
  return {.ub = std::max(kUpdateBytes, 2 * kCopyBytes)};
}

class ScatterWriter {
 public:
  ScatterWriter(const Group& group, const config::ChipConfig& chip, u64 blocks)
      : node_(group.node()),
        x_(node_),
        joint_(is_joint(chip)),
        blocks_(blocks),
        p_(node_.name, chip.arch),
        w_(group, p_) {}

  isa::BuiltProgram write() {
    for (Reg* const r : {&first_, &end_, &row_, &length_, &address_})
      *r = p_.reg("t");
    p_.comment("each block has rows that follow each other");
    p_.get_block_idx(first_);
    p_.add(end_, first_, 1);
    for (const Reg r : {first_, end_}) {
      p_.mul(r, r, x_.rows);
      p_.div(r, r, blocks_);
    }
    copy_rows();
    p_.pipe_barrier(PipeId::ALL);
    update_rows();
    p_.pipe_barrier(PipeId::ALL);
    p_.end();
    return p_.finish();
  }

 private:
  // length_: bytes; on a joint core they are whole blocks.
  void load(u64 ub, Reg from) {
    if (!joint_) return p_.copy_gm_to_ubuf_align_b8(ub, from, 0, 1, length_, 0, 0, 0, 0);
    p_.shr(length_, length_, 5);
    p_.copy_gm_to_ubuf(ub, from, 0, 1, length_, 0, 0);
  }
  void store(Reg to, u64 ub) {
    if (!joint_) return p_.copy_ubuf_to_gm_align_b8(to, ub, 0, 1, length_, 0, 0, 0, 0);
    p_.shr(length_, length_, 5);
    p_.copy_ubuf_to_gm(to, ub, 0, 1, length_, 0, 0);
  }
  void load_row(u64 ub, const Value* v, const isa::Value& row) {
    p_.mul(address_, row, x_.width);
    w_.address(address_, v, address_);
    p_.mov(length_, x_.row_bytes());
    load(ub, address_);
  }
  void store_row(const isa::Value& row, u64 ub) {
    p_.mul(address_, row, x_.width);
    w_.address(address_, node_.output(), address_);
    p_.mov(length_, x_.row_bytes());
    store(address_, ub);
  }

  // The range of the input, by way of two halves of UB.
  void copy_rows() {
    const isa::ProgramBuilder::Scope scope(p_.scope());
    const Reg from = w_.reg(), to = w_.reg(), left = w_.reg(), each = w_.reg();
    p_.mul(to, first_, x_.width);
    w_.address(from, node_.input(0), to);
    w_.address(to, node_.output(), to);
    p_.sub(left, end_, first_);
    p_.mul(left, left, x_.row_bytes());
    for (const u32 half : {0U, 1U})
      p_.set_flag(PipeId::MTE3, PipeId::MTE2, half);
    const isa::Target again = p_.here("again"), done = p_.label("done");
    for (const u32 half : {0U, 1U}) {
      p_.branch(isa::Value(left) == 0, done);
      p_.min(each, left, kCopyBytes);
      p_.wait_flag(PipeId::MTE3, PipeId::MTE2, half);
      p_.mov(length_, each);
      load(half * kCopyBytes, from);
      p_.hand_over(PipeId::MTE2, PipeId::MTE3, half);
      p_.mov(length_, each);
      store(to, half * kCopyBytes);
      p_.set_flag(PipeId::MTE3, PipeId::MTE2, half);
      p_.add(from, from, each);
      p_.add(to, to, each);
      p_.sub(left, left, each);
    }
    p_.b(again);
    p_.bind(done);
    for (const u32 half : {0U, 1U})
      p_.wait_flag(PipeId::MTE3, PipeId::MTE2, half);
  }

  // All updates, so many positions at once.
  void update_rows() {
    const Value* const positions = node_.input(1);
    const u64 index_bytes = info(positions->type).bytes, each = kIndexBytes / (index_bytes * x_.depth);
    const bool sums = x_.how != "none";
    if (sums) {
      // What is behind a row is computed with, too.
      in_repeats(p_, true, 2 * x_.slot_bytes() / 4,
                 [&](u64 e, u64 n) { p_.vector_dup(Type::s32, e * 4, 0, n, 1, 1, 8, 8); });
      p_.hand_over(PipeId::V, PipeId::MTE2, 0);
    } else {
      for (u32 slot = 0; slot < kRowSlots; ++slot)
        p_.set_flag(PipeId::MTE3, PipeId::MTE2, slot);
    }
    const Reg begin = w_.reg(), number = w_.reg(), count = w_.reg(), at = w_.reg(), slot = w_.reg();
    p_.mov(slot, 0);
    p_.loop(begin, 0, x_.updates, each, [&] {
      p_.sub(count, x_.updates, begin);
      p_.min(count, count, each);
      p_.mul(address_, begin, x_.depth);
      w_.address(address_, positions, address_);
      p_.mul(length_, count, x_.depth * index_bytes);
      p_.add(length_, length_, 31);
      p_.shr(length_, length_, 5);
      p_.hand_over(PipeId::S, PipeId::MTE2, 0);
      p_.copy_gm_to_ubuf(kRowSlots * kMostRowBytes, address_, 0, 1, length_, 0, 0);
      p_.hand_over(PipeId::MTE2, PipeId::S, 0);
      p_.mov(at, kRowSlots * kMostRowBytes);
      p_.loop(number, 0, count, 1, [&] {
        read_position(at, index_bytes);
        const isa::Target other = p_.label("other");
        p_.branch(isa::Value(row_) < first_, other);
        p_.branch(isa::Value(row_) >= end_, other);
        const isa::ProgramBuilder::Scope scope(p_.scope());
        const Reg update = w_.reg();
        p_.add(update, begin, number);
        sums ? combine(update) : replace(update, slot);
        p_.bind(other);
      });
    });
    if (sums) return;
    for (u32 s = 0; s < kRowSlots; ++s)
      p_.wait_flag(PipeId::MTE3, PipeId::MTE2, s);
  }

  // row_ = the row that the position at `at` names; `at` goes on to the next one.
  void read_position(Reg at, u64 index_bytes) {
    const isa::ProgramBuilder::Scope scope(p_.scope());
    const Reg index = w_.reg();
    for (usize d = 0; d < x_.depth; ++d) {
      w_.load_from_ub(index, index_bytes, at);
      w_.place(index, x_.dims[d]);
      if (d == 0) {
        p_.mov(row_, index);
      } else {
        p_.mul(row_, row_, x_.dims[d]);
        p_.add(row_, row_, index);
      }
      p_.add(at, at, index_bytes);
    }
  }

  // Stores are in order; a row may come again.
  void replace(Reg update, Reg slot) {
    const isa::Target done = p_.label("done");
    for (u32 s = 0; s < kRowSlots; ++s) {
      p_.if_(isa::Value(slot) == s, [&] {
        p_.wait_flag(PipeId::MTE3, PipeId::MTE2, s);
        load_row(s * kMostRowBytes, node_.input(2), update);
        p_.hand_over(PipeId::MTE2, PipeId::MTE3, s);
        p_.pipe_barrier(PipeId::MTE3);
        store_row(row_, s * kMostRowBytes);
        p_.set_flag(PipeId::MTE3, PipeId::MTE2, s);
        p_.mov(slot, (s + 1) % kRowSlots);
        p_.b(done);
      });
    }
    p_.bind(done);
  }

  // The row of the result and the update; the next one may be of the same row.
  void combine(Reg update) {
    const bool wide = x_.bytes == 4;
    const u64 lanes = wide ? kLanes32 : kLanes16, mine = 0, other = x_.slot_bytes();
    load_row(other, node_.input(2), update);
    load_row(mine, node_.output(), row_);
    p_.hand_over(PipeId::MTE2, PipeId::V, 0);
    VectorWriter v(p_, {.wide = wide, .first = 0, .repeats = ceil_div(x_.width, lanes)}, 0, 0);
    v.binary(vector_instruction(x_.how), mine, mine, other);
    p_.hand_over(PipeId::V, PipeId::MTE3, 0);
    store_row(row_, mine);
    p_.hand_over(PipeId::MTE3, PipeId::MTE2, 0);
  }

  const Node& node_;
  const ScatteredRows x_;
  const bool joint_;
  const u64 blocks_;
  isa::ProgramBuilder p_;
  ScalarWriter w_;
  Reg first_, end_, row_, length_, address_;
};

KernelProgram scatter_build(const Group& group, const config::ChipConfig& chip, const Tiling&) {
  const u64 blocks = std::min<u64>(vector_cores(chip), ScatteredRows(group.node()).rows);
  return {.program = ScatterWriter(group, chip, blocks).write(),
          .type = vector_kernel_type(chip),
          .blocks = static_cast<u32>(blocks)};
}

}  // namespace

const Kernel kScatterRowsKernel{"scatter_rows",  scatter_rows_refuse, present_formats,
                                scatter_tilings, scatter_footprint,   scatter_build};

}  // namespace vinci::graph
