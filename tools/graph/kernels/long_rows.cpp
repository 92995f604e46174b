// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tools/graph/kernels/row_math.h"
#include "tools/graph/kernels/row_reduction.h"
#include "tools/graph/kernels/spread.h"
#include "tools/graph/kernels/vector_ops.h"
#include "tools/graph/kernels/vector_writer.h"
#include "tools/graph/ops/op.h"

// Softmax, LayerNorm and reductions of rows that do not fit UB, or whose numbers the kernels on whole rows cannot
// repeat: a row comes in parts, once for each pass over it. Parts are combined lane by lane in f32; at the end of a
// pass the lanes become one number, which fills a block.
namespace vinci::graph {
namespace {

using isa::PipeId, isa::Reg, isa::Type;

constexpr u64 kJointRows = 16;     // of a tile of reductions on a joint core, which stores whole blocks
constexpr u64 kFixedBytes = 8192;  // numbers, lanes and blocks
constexpr u64 kLongGrain = 128;    // elements; parts are multiples
constexpr float kLowest = -3.4e38F;

bool is_long_softmax(const Node& node) { return node.type == "SoftmaxV2" || node.type == "LogSoftmaxV2"; }

// How many of the last axes are a row.
usize long_axes(const Node& node) {
  const usize rank = node.input(0)->shape.rank();
  if (is_long_softmax(node)) return 1;
  if (node.type == "LayerNorm") return rank - axis_of(node, node.integer("axis", -1), rank);
  return *last_reduced_axes(node);
}

struct LongRow {
  explicit LongRow(const Group& group)
      : width(1),
        in_bytes(info(group.node().input(0)->type).bytes),
        stores_rows(row_reduction(group.node().type) == nullptr) {
    const Shape& in = group.node().input(0)->shape;
    const usize axes = long_axes(group.node());
    for (usize a = in.rank() - axes; a < in.rank(); ++a)
      width *= static_cast<u64>(in[a]);
    rows = in.elements() / width;
    if (group.node().type == "LayerNorm") {
      for (usize i = 1; i <= 2; ++i) {
        if (const Value* const v = group.node().input(i); v != nullptr) affine.push_back(v);
      }
    }
  }
  // Bytes of UB for an element of a part: two slots of what comes and goes, the part in f32, its squares or factors,
  // and the lanes that add up.
  u64 element_bytes() const {
    u64 bytes = 2 * in_bytes + 4 + 4 + 4 + (stores_rows ? 2 * in_bytes : 0);
    for (const Value* const v : affine)
      bytes += 2 * info(v->type).bytes;
    return bytes;
  }

  u64 width, rows = 1, in_bytes;
  bool stores_rows;  // else a number for each row
  std::vector<const Value*> affine = {};
};

class LongRowWriter {
 public:
  LongRowWriter(const Group& group, const config::ChipConfig& chip, u64 columns)
      : group_(group), x_(group), columns_(columns), joint_(is_joint(chip)), p_(group.node().name, chip.arch) {
    in_ = take(2 * columns * x_.in_bytes);
    work_ = take(columns * 4);
    factor_ = take(columns * 4);
    lanes_ = take(columns * 4);
    if (x_.stores_rows) out_ = take(2 * columns * x_.in_bytes);
    for (const Value* const v : x_.affine)
      affine_.push_back(take(2 * columns * info(v->type).bytes));
    number_ = take(256);
    pair_ = take(32);
    blocks_ = take(512);
    first_ = take(256);
    second_ = take(256);
    ones_ = take(256);
    if (!x_.stores_rows) {
      tile_lanes_ = take(kJointRows * 256);
      results_ = take(256);
    }
  }

  u64 tile_rows() const { return joint_ && !x_.stores_rows ? kJointRows : 1; }
  u64 tiles() const { return ceil_div(x_.rows, tile_rows()); }
  // A row whose end goes over the beginning of the next one is stored before it.
  bool over() const { return joint_ && x_.stores_rows && x_.width * x_.in_bytes % 32 != 0; }

  isa::BuiltProgram program() {
    p_.comment(fmt::format("{} rows of {} elements in parts of {}", x_.rows, x_.width, columns_));
    for (usize i = 0; i < group_.inputs().size() + 1; ++i)
      pointers_.push_back(p_.arg(i < group_.inputs().size() ? fmt::format("in{}", i) : "out"));
    tile_ = p_.reg("tile");
    step_ = p_.reg("step");
    row_ = p_.reg("row");
    at_ = p_.reg("at");
    element_ = p_.reg("element");
    t_ = p_.reg("t");
    dup(ones_, 64, 1);
    if (x_.stores_rows) dup(out_, 2 * columns_ * x_.in_bytes / 4, 0);
    each_free([&](PipeId from, PipeId to, u32 slot) { p_.set_flag(from, to, slot); });
    p_.get_block_idx(tile_);
    p_.get_block_num(step_);
    const isa::Target next = p_.here("tile"), finish = p_.label("finish");
    p_.bge(tile_, tiles(), finish);
    if (is_long_softmax(group_.node())) {
      softmax();
    } else if (group_.node().type == "LayerNorm") {
      layer_norm();
    } else {
      reduce();
    }
    p_.add(tile_, tile_, step_);
    p_.b(next);
    p_.bind(finish);
    each_free([&](PipeId from, PipeId to, u32 slot) { p_.wait_flag(from, to, slot); });
    p_.pipe_barrier(PipeId::ALL);
    p_.end();
    return p_.finish();
  }

 private:
  using Part = std::function<void(u32 slot, u64 columns)>;

  u64 take(u64 bytes) {
    const u64 at = end_;
    end_ += align_up<u64>(bytes, 32);
    return at;
  }

  // Flags that are up while a slot is free.
  template <class Flag>
  void each_free(const Flag& flag) {
    for (u32 slot = 0; slot < 2; ++slot) {
      flag(PipeId::V, PipeId::MTE2, slot);
      flag(PipeId::MTE3, PipeId::V, slot);
    }
  }

  bool wide() const { return x_.in_bytes == 4; }
  u64 slot_at(u64 base, u32 slot, u64 bytes) const { return base + slot * columns_ * bytes; }

  // Vector instructions on so many elements of f32.
  void unary(std::string_view name, u64 dst, u64 src, u64 n) {
    in_repeats(p_, true, n, [&](u64 e, u64 r) { p_.call(name, Type::f32, {dst + e * 4, src + e * 4, r, 1, 1, 8, 8}); });
  }
  void scalar(std::string_view name, u64 dst, u64 src, double by, u64 n) {
    in_repeats(p_, true, n, [&](u64 e, u64 r) {
      p_.call(name, Type::f32, {dst + e * 4, src + e * 4, isa::f32(static_cast<float>(by)), r, 1, 1, 8, 8});
    });
  }
  void binary(std::string_view name, u64 dst, u64 a, u64 b, u64 n) {
    in_repeats(p_, true, n, [&](u64 e, u64 r) {
      p_.call(name, Type::f32, {dst + e * 4, a + e * 4, b + e * 4, r, 1, 1, 1, 8, 8, 8});
    });
  }
  // The second operand is a block for all elements.
  void with_block(std::string_view name, u64 dst, u64 a, u64 block, u64 n) {
    in_repeats(p_, true, n, [&](u64 e, u64 r) {
      p_.call(name, Type::f32, {dst + e * 4, a + e * 4, block, r, 1, 1, 0, 8, 8, 0});
    });
  }
  void dup(u64 dst, u64 n, double value) {
    in_repeats(p_, true, n, [&](u64 e, u64 r) {
      p_.vector_dup(Type::f32, dst + e * 4, isa::f32(static_cast<float>(value)), r, 1, 1, 8, 8);
    });
  }
  void to_f32(u64 dst, u64 src, u64 bytes, u64 n) {
    if (bytes == 4) return scalar("vmuls", dst, src, 1, n);
    in_repeats(p_, true, n, [&](u64 e, u64 r) { p_.vconv_f162f32(dst + e * 4, src + e * 2, r, 1, 1, 8, 4); });
  }
  void from_f32(u64 dst, u64 src, u64 n) {
    if (wide()) return scalar("vmuls", dst, src, 1, n);
    in_repeats(p_, true, n, [&](u64 e, u64 r) { p_.vconv_f322f16(dst + e * 2, src + e * 4, r, 1, 1, 4, 8); });
  }

  // Elements between memory, at at_, and UB.
  void copy(u64 ub, u64 columns, u64 bytes, bool load) {
    if (joint_) {
      const u64 blocks = ceil_div<u64>(columns * bytes, 32);
      return load ? p_.copy_gm_to_ubuf(ub, at_, 0, 1, blocks, 0, 0) : p_.copy_ubuf_to_gm(at_, ub, 0, 1, blocks, 0, 0);
    }
    const u64 length = columns * bytes;
    if (bytes == 4) {
      return load ? p_.copy_gm_to_ubuf_align_b32(ub, at_, 0, 1, length, 0, 0, 0, 0)
                  : p_.copy_ubuf_to_gm_align_b32(at_, ub, 0, 1, length, 0, 0, 0, 0);
    }
    load ? p_.copy_gm_to_ubuf_align_b16(ub, at_, 0, 1, length, 0, 0, 0, 0)
         : p_.copy_ubuf_to_gm_align_b16(at_, ub, 0, 1, length, 0, 0, 0, 0);
  }

  // at_ = the address of element_ of the row.
  void locate(Reg pointer, u64 bytes) {
    p_.mul(at_, row_, x_.width);
    p_.add(at_, at_, element_);
    p_.mul(at_, at_, bytes);
    p_.add(at_, at_, pointer);
  }

  // body on each part of the row, in f32 at work_.
  void pass(const Part& body, bool affine = false, bool stores = false) {
    const u64 whole = x_.width / columns_, rest = x_.width % columns_;
    const auto part = [&](u32 slot, u64 columns) {
      p_.wait_flag(PipeId::V, PipeId::MTE2, slot);
      locate(pointers_[0], x_.in_bytes);
      copy(slot_at(in_, slot, x_.in_bytes), columns, x_.in_bytes, true);
      for (usize i = 0; affine && i < x_.affine.size(); ++i) {
        const u64 bytes = info(x_.affine[i]->type).bytes;
        const auto argument = std::ranges::find(group_.inputs(), x_.affine[i]) - group_.inputs().begin();
        p_.mul(at_, element_, bytes);
        p_.add(at_, at_, pointers_[static_cast<usize>(argument)]);
        copy(slot_at(affine_[i], slot, bytes), columns, bytes, true);
      }
      p_.hand_over(PipeId::MTE2, PipeId::V, slot);
      to_f32(work_, slot_at(in_, slot, x_.in_bytes), x_.in_bytes, columns);
      body(slot, columns);
      if (stores) {
        p_.wait_flag(PipeId::MTE3, PipeId::V, slot);
        from_f32(slot_at(out_, slot, x_.in_bytes), work_, columns);
      }
      p_.set_flag(PipeId::V, PipeId::MTE2, slot);
      if (stores) {
        p_.hand_over(PipeId::V, PipeId::MTE3, slot);
        locate(pointers_.back(), x_.in_bytes);
        if (over()) p_.pipe_barrier(PipeId::MTE3);
        copy(slot_at(out_, slot, x_.in_bytes), columns, x_.in_bytes, false);
        p_.set_flag(PipeId::MTE3, PipeId::V, slot);
      }
      p_.add(element_, element_, columns);
    };
    p_.mov(element_, 0);
    if (whole > 1) {
      p_.loop(whole / 2, [&](Reg) {
        part(0, columns_);
        part(1, columns_);
      });
    }
    if (whole % 2 != 0) part(0, columns_);
    if (rest != 0) part(static_cast<u32>(whole % 2), rest);
  }

  // All lanes into those of one repeat, by halves.
  void fold(std::string_view name) {
    for (u64 repeats = ceil_div(columns_, kLanes32); repeats > 1;) {
      const u64 half = repeats / 2;
      binary(name, lanes_, lanes_, lanes_ + (repeats - half) * 256, half * kLanes32);
      repeats -= half;
    }
  }

  // lanes_ = <name> of all parts: `before` makes what is combined of work_, in place or at factor_.
  void combine(std::string_view name, const std::function<u64(u64 columns)>& before) {
    dup(lanes_, columns_, name == "vmax" ? kLowest : name == "vmin" ? -kLowest : 0);
    pass([&](u32, u64 columns) { binary(name, lanes_, lanes_, before(columns), columns); });
    fold(name);
  }

  // The lanes as one number that fills a block of f32.
  void sum_to_block(u64 block) {
    p_.vcadd(Type::f32, block, lanes_, 8, 1, 1, 0);
    p_.pipe_barrier(PipeId::V);
  }
  void largest_to_block(u64 block) {
    constexpr u64 kValuesAlone = 2;
    if (p_.arch() != isa::Arch::c100) {
      p_.vcmax(Type::f32, block, lanes_, 8, 1, 1, 0, kValuesAlone);
      return p_.pipe_barrier(PipeId::V);
    }
    // c100 has vcmax of f16 alone.
    if (x_.in_bytes == 4) return largest_of_f32(block);
    in_repeats(p_, true, kLanes32, [&](u64, u64) { p_.vconv_f322f16(number_, lanes_, 1, 1, 1, 4, 8); });
    dup(pair_, 8, 0);
    set_mask(p_, kLanes32);
    p_.vcmax(Type::f16, pair_, number_, 1, 1, 1, 8);
    p_.pipe_barrier(PipeId::V);
    p_.set_vector_mask(~u64{0}, ~u64{0});
    spread_numbers(p_, blocks_, pair_, 1);
    in_repeats(p_, true, 8, [&](u64, u64) { p_.vconv_f162f32(block, blocks_, 1, 1, 1, 8, 4); });
  }

  // Halves of the lanes until a block is left; then each of its lanes fills a block, and halves of the blocks.
  void largest_of_f32(u64 block) {
    constexpr u64 kBlockLanes = 8;
    for (u64 half = kLanes32 / 2; half >= kBlockLanes; half /= 2)
      binary("vmax", lanes_, lanes_, lanes_ + half * 4, half);
    RowMath(p_, x_.width, x_.width).spread_by_scalar(lanes_, kBlockLanes, blocks_, {at_, t_, element_}, 0);
    for (u64 half = kBlockLanes / 2; half >= 1; half /= 2)
      binary("vmax", half == 1 ? block : blocks_, blocks_, blocks_ + half * 32, half * kBlockLanes);
  }

  void softmax() {
    p_.mov(row_, tile_);
    const bool log = group_.node().type == "LogSoftmaxV2";
    p_.comment("the largest element");
    combine("vmax", [&](u64) { return work_; });
    largest_to_block(first_);
    const auto exponentials = [&](u64 columns) {
      with_block("vsub", work_, work_, first_, columns);
      if (!log) unary("vexp", work_, work_, columns);
    };
    p_.comment("the sum of exponentials");
    combine("vadd", [&](u64 columns) {
      exponentials(columns);
      if (log) unary("vexp", work_, work_, columns);
      return work_;
    });
    sum_to_block(second_);
    if (log) {
      unary("vln", second_, second_, 8);
    } else {
      binary("vdiv", second_, ones_, second_, 8);
    }
    p_.comment("the result");
    pass(
        [&](u32, u64 columns) {
          exponentials(columns);
          with_block(log ? "vsub" : "vmul", work_, work_, second_, columns);
        },
        false, true);
  }

  void layer_norm() {
    p_.mov(row_, tile_);
    const double share = 1 / static_cast<double>(x_.width);
    p_.comment("the mean");
    combine("vadd", [&](u64) { return work_; });
    sum_to_block(first_);
    scalar("vmuls", first_, first_, share, 8);
    p_.comment("the variance");
    combine("vadd", [&](u64 columns) {
      with_block("vsub", work_, work_, first_, columns);
      binary("vmul", work_, work_, work_, columns);
      return work_;
    });
    sum_to_block(second_);
    scalar("vmuls", second_, second_, share, 8);
    scalar("vadds", second_, second_, group_.node().number("epsilon", 1e-5), 8);
    unary("vsqrt", second_, second_, 8);
    binary("vdiv", second_, ones_, second_, 8);
    p_.comment("the result");
    pass(
        [&](u32 slot, u64 columns) {
          with_block("vsub", work_, work_, first_, columns);
          with_block("vmul", work_, work_, second_, columns);
          for (usize i = 0; i < affine_.size(); ++i) {
            const u64 bytes = info(x_.affine[i]->type).bytes;
            to_f32(factor_, slot_at(affine_[i], slot, bytes), bytes, columns);
            binary(i == 0 ? "vmul" : "vadd", work_, work_, factor_, columns);
          }
        },
        true, true);
  }

  void reduce() {
    const RowReduction& what = *row_reduction(group_.node().type);
    const u64 rows = tile_rows();
    p_.mul(row_, tile_, rows);
    p_.mov(t_, tile_lanes_);
    if (rows > 1) dup(tile_lanes_, rows * kLanes32, 0);
    const Reg count = p_.reg("count"), i = p_.reg("i");
    p_.sub(count, x_.rows, row_);
    p_.min(count, count, rows);
    p_.loop(i, 0, count, 1, [&] {
      combine(what.each, [&](u64 columns) {
        if (what.before == "vmul") binary("vmul", work_, work_, work_, columns);
        if (what.before == "vabs") unary("vabs", work_, work_, columns);
        return work_;
      });
      p_.vmuls(Type::f32, t_, lanes_, isa::f32(1), 1, 1, 1, 8, 8);
      p_.pipe_barrier(PipeId::V);
      p_.add(t_, t_, 256);
      p_.add(row_, row_, 1);
    });
    p_.wait_flag(PipeId::MTE3, PipeId::V, 0);
    results(what, rows);
    p_.hand_over(PipeId::V, PipeId::MTE3, 0);
    p_.mul(at_, tile_, rows * x_.in_bytes);
    p_.add(at_, at_, pointers_.back());
    if (!joint_) {
      copy(results_, 1, x_.in_bytes, false);
    } else {
      p_.mul(count, count, x_.in_bytes);
      p_.add(count, count, 31);
      p_.shr(count, count, 5);
      p_.copy_ubuf_to_gm(at_, results_, 0, 1, count, 0, 0);
    }
    p_.set_flag(PipeId::MTE3, PipeId::V, 0);
  }

  // Of the rows of a tile, from their lanes.
  void results(const RowReduction& what, u64 rows) {
    const std::string across = fmt::format("vc{}", what.each.substr(1));
    if (what.each == "vadd") {
      p_.call(across, Type::f32, {number_, tile_lanes_, rows, 1, 1, 8});
    } else if (p_.arch() != isa::Arch::c100) {
      constexpr u64 kValuesAlone = 2;
      p_.call(across, Type::f32, {number_, tile_lanes_, rows, 1, 1, 8, kValuesAlone});
    } else {
      return extremes_of_f16(across, rows);
    }
    p_.pipe_barrier(PipeId::V);
    if (what.mean) scalar("vmuls", number_, number_, 1 / static_cast<double>(x_.width), rows);
    if (!what.after.empty()) unary(what.after, number_, number_, rows);
    from_f32(results_, number_, rows);
  }

  // c100 gives them with their positions, and of f16 alone; the tensor is of f16.
  void extremes_of_f16(const std::string& across, u64 rows) {
    const u64 narrow = lanes_, pairs = lanes_ + 4096, spread = lanes_ + 4352, trash = lanes_ + 8192;
    in_repeats(p_, true, rows * kLanes32,
               [&](u64 e, u64 r) { p_.vconv_f322f16(narrow + e * 2, tile_lanes_ + e * 4, r, 1, 1, 4, 8); });
    set_mask(p_, kLanes32);
    p_.call(across, Type::f16, {pairs, narrow, rows, 1, 1, 4});
    p_.pipe_barrier(PipeId::V);
    p_.set_vector_mask(~u64{0}, ~u64{0});
    spread_numbers(p_, spread, pairs, 2 * rows);
    gather_numbers(p_, results_, spread, 64, rows, trash);
  }

  const Group& group_;
  const LongRow x_;
  const u64 columns_;
  const bool joint_;
  isa::ProgramBuilder p_;
  u64 end_ = 0, in_ = 0, work_ = 0, factor_ = 0, lanes_ = 0, out_ = 0, number_ = 0, pair_ = 0, blocks_ = 0, first_ = 0,
      second_ = 0, ones_ = 0, tile_lanes_ = 0, results_ = 0;
  std::vector<u64> affine_;
  std::vector<Reg> pointers_;
  Reg tile_, step_, row_, at_, element_, t_;
};

std::string long_refuses(const Group& group, const config::ChipConfig& chip) {
  const Node& node = group.node();
  const RowReduction* const reduction = row_reduction(node.type);
  if (!is_long_softmax(node) && node.type != "LayerNorm" && reduction == nullptr)
    return "it is neither Softmax nor LayerNorm nor a reduction";
  if (std::string reason = not_rows(group); !reason.empty()) return reason;
  const usize rank = node.input(0)->shape.rank();
  if (is_long_softmax(node) && axis_of(node, node.integer("axis", -1), rank) != rank - 1)
    return "its axis is not the last one";
  if (reduction != nullptr && !last_reduced_axes(node)) return "its axes are not the last ones";
  if (reduction != nullptr && node.output()->type != node.input(0)->type) return "its result has another type";
  if (chip.arch == isa::Arch::c100 && reduction != nullptr && reduction->each != "vadd" &&
      node.input(0)->type == DataType::f32)
    return "c100 has no vcmax of f32";
  const LongRow x(group);
  for (usize i = 0; i < x.affine.size(); ++i) {
    const Value& v = *x.affine[i];
    if (!v.shape.known() || v.shape.elements() != x.width || x.width == 1) return "scale or offset is repeated";
    if (v.type != DataType::f16 && v.type != DataType::f32) return "scale or offset is neither f16 nor f32";
  }
  if (node.type == "LayerNorm" && node.input(1) == nullptr && node.input(2) != nullptr)
    return "it has an offset without a scale";
  return "";
}

Formats long_formats(const Group& group, const config::ChipConfig&) {
  return {.inputs = std::vector(group.inputs().size(), isa::Format::ND), .outputs = {isa::Format::ND}};
}

std::vector<Tiling> long_tilings(const Group& group, const config::ChipConfig& chip) {
  const LongRow x(group);
  const u64 fit = (chip.core.buffers.ub - kFixedBytes) / x.element_bytes() / kLongGrain * kLongGrain;
  // Rows that are a little longer than a part are cut evenly. c100 uses the room of 4096 lanes at the end.
  const u64 parts = ceil_div(x.width, fit);
  const u64 even = align_up(ceil_div(x.width, parts), kLongGrain);
  return {{{"columns", static_cast<i64>(std::min(fit, std::max<u64>(even, 4096)))}}};
}

Footprint long_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  return {.ub = kFixedBytes + static_cast<u64>(tiling.at("columns")) * LongRow(group).element_bytes()};
}

KernelProgram long_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  LongRowWriter writer(group, chip, static_cast<u64>(tiling.at("columns")));
  const u64 blocks = writer.over() ? 1 : std::min<u64>(writer.tiles(), vector_cores(chip));
  return {.program = writer.program(), .type = vector_kernel_type(chip), .blocks = static_cast<u32>(blocks)};
}

}  // namespace

const Kernel kLongRowKernel{"long_rows", long_refuses, long_formats, long_tilings, long_footprint, long_build};

}  // namespace vinci::graph
