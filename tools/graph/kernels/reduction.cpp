// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <array>

#include "tools/graph/kernels/row_math.h"
#include "tools/graph/kernels/row_reduction.h"
#include "tools/graph/kernels/spread.h"
#include "tools/graph/kernels/vector_ops.h"
#include "tools/graph/kernels/vector_writer.h"
#include "tools/graph/ops/op.h"

// Reductions over the last axes: whole rows, sums in f32; largest and smallest elements in the type of the tensor.
namespace vinci::graph {
namespace {

using isa::PipeId, isa::Reg, isa::Type;

constexpr auto kReduces = std::to_array<RowReduction>({
    {.type = "ReduceL1", .each = "vadd", .before = "vabs"},
    {.type = "ReduceL2", .each = "vadd", .before = "vmul", .after = "vsqrt"},
    {.type = "ReduceLogSum", .each = "vadd", .after = "vln"},
    {.type = "ReduceMax", .each = "vmax"},
    {.type = "ReduceMean", .each = "vadd", .mean = true},
    {.type = "ReduceMin", .each = "vmin"},
    {.type = "ReduceSum", .each = "vadd"},
    {.type = "ReduceSumSquare", .each = "vadd", .before = "vmul"},
});
}  // namespace

const RowReduction* row_reduction(std::string_view type) {
  const auto at = std::ranges::find(kReduces, type, &RowReduction::type);
  return at == kReduces.end() ? nullptr : at;
}

std::optional<usize> last_reduced_axes(const Node& node) {
  const auto rank = static_cast<i64>(node.input(0)->shape.rank());
  std::vector<bool> reduced(static_cast<usize>(rank), true);
  if (node.input(1) == nullptr) {
    if (node.integer("noop_with_empty_axes") != 0) return std::nullopt;
  } else {
    if (!node.input(1)->constant) return std::nullopt;
    const std::vector<i64> axes = node.input(1)->constant->array().integers();
    if (axes.empty() && node.integer("noop_with_empty_axes") != 0) return std::nullopt;
    if (!axes.empty()) reduced.assign(reduced.size(), false);
    for (const i64 a : axes)
      reduced[axis_of(node, a, static_cast<usize>(rank))] = true;
  }
  usize count = 0;
  while (count < reduced.size() && reduced[reduced.size() - 1 - count])
    ++count;
  const bool others =
      std::any_of(reduced.begin(), reduced.end() - static_cast<std::ptrdiff_t>(count), [](bool r) { return r; });
  return others || count == 0 ? std::nullopt : std::optional(count);
}

namespace {

Rows reduce_rows(const Group& group) {
  return last_axes_as_rows(*group.node().input(0), *group.node().output(), *last_reduced_axes(group.node()));
}
bool reduces_in_f32(const Node& node) {
  return row_reduction(node.type)->each == "vadd" || node.input(0)->type == DataType::f32;
}
u64 reduce_element_bytes(const Group& group) {
  return 2 * info(group.node().input(0)->type).bytes + (reduces_in_f32(group.node()) ? 4 : 0);
}
constexpr u64 kReduceRowBytes = RowMath::kLaneBytes + 88, kReduceFixed = 4096;
constexpr i64 kBlockRows = 16;  // whose results fill a block of f16

Footprint reduce_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  const u64 pitch = align_up<u64>(reduce_rows(group).space.width, 16), rows = static_cast<u64>(tiling.at("rows"));
  if (!tiling.contains("by_rows"))
    return {.ub = kReduceFixed + rows * (pitch * reduce_element_bytes(group) + kReduceRowBytes)};
  return {.ub = kReduceFixed + pitch * 4 + rows * (pitch * info(group.node().input(0)->type).bytes + kReduceRowBytes)};
}

class ReduceWriter final : public RowKernel {
 public:
  ReduceWriter(const Group& group, const config::ChipConfig& chip, RowTiling tiling, bool by_rows)
      : RowKernel(group, chip, reduce_rows(group), tiling, by_rows ? 1 : 2),
        x_(*row_reduction(group.node().type)),
        wide_(group.node().input(0)->type == DataType::f32),
        in_f32_(reduces_in_f32(group.node())),
        by_rows_(by_rows),
        work_(take(in_f32_ ? (by_rows ? tiles_.pitch() : elements()) * 4 : 0)),
        lanes_(take(tiles_.rows() * RowMath::kLaneBytes)),
        out_(take(2 * slot_bytes())),
        spread_(take(spread_rows() * 64)),
        trash_(take(kTrashBytes)) {}

 private:
  u64 bytes() const { return wide_ ? 4 : 2; }
  u64 slot_bytes() const { return spread_rows() * bytes(); }
  u64 out_at(u32 slot) const { return out_ + slot * slot_bytes(); }

  void prologue() override {
    at_ = p_.reg("at");
    length_ = p_.reg("length");
  }

  void compute(u32 slot, u64 rows) override {
    const u64 all = rows * tiles_.pitch(), in = in_at(slot);
    if (!in_f32_) {
      math_.combine(x_.each, false, numbers_, in, lanes_, rows);
      return compact(slot, rows);
    }
    if (by_rows_) {
      for (u64 row = 0; row < rows; ++row) {
        put_in_work(in + row * tiles_.pitch() * bytes(), tiles_.pitch());
        math_.gather_lanes(x_.each, true, work_, lanes_ + row * RowMath::kLaneBytes, 1);
      }
      math_.across_lanes(x_.each, true, numbers_, lanes_, rows);
    } else {
      put_in_work(in, all);
      math_.combine(x_.each, true, numbers_, work_, lanes_, rows);
    }
    finish(slot, rows);
  }

  // Elements in f32, as they are combined.
  void put_in_work(u64 in, u64 all) {
    in_repeats(p_, true, all, [&](u64 e, u64 n) {
      wide_ ? p_.vmuls(Type::f32, work_ + e * 4, in + e * 4, isa::f32(1), n, 1, 1, 8, 8)
            : p_.vconv_f162f32(work_ + e * 4, in + e * 2, n, 1, 1, 8, 4);
    });
    if (x_.before == "vmul")
      in_repeats(p_, true, all, [&](u64 e, u64 n) {
        p_.vmul(Type::f32, work_ + e * 4, work_ + e * 4, work_ + e * 4, n, 1, 1, 1, 8, 8, 8);
      });
    else if (!x_.before.empty())
      in_repeats(p_, true, all, [&](u64 e, u64 n) {
        p_.call(x_.before, Type::f32, {work_ + e * 4, work_ + e * 4, n, 1, 1, 8, 8});
      });
  }

  // From the combined elements to results.
  void finish(u32 slot, u64 rows) {
    if (x_.each != "vadd") return compact(slot, rows);
    if (x_.mean) {
      const auto share = static_cast<float>(1 / static_cast<double>(rows_.space.width));
      in_repeats(p_, true, rows, [&](u64 e, u64 n) {
        p_.vmuls(Type::f32, numbers_ + e * 4, numbers_ + e * 4, isa::f32(share), n, 1, 1, 8, 8);
      });
    }
    if (!x_.after.empty())
      in_repeats(p_, true, rows, [&](u64 e, u64 n) {
        p_.call(x_.after, Type::f32, {numbers_ + e * 4, numbers_ + e * 4, n, 1, 1, 8, 8});
      });
    in_repeats(p_, true, rows, [&](u64 e, u64 n) {
      wide_ ? p_.vmuls(Type::f32, out_at(slot) + e * 4, numbers_ + e * 4, isa::f32(1), n, 1, 1, 8, 8)
            : p_.vconv_f322f16(out_at(slot) + e * 2, numbers_ + e * 4, n, 1, 1, 4, 8);
    });
  }

  // To the result; numbers that come with their position lose it.
  void compact(u32 slot, u64 rows) {
    if (math_.step(x_.each) == 2) {
      spread_numbers(p_, spread_, numbers_, 2 * rows);
      return gather_numbers(p_, out_at(slot), spread_, 64, rows, trash_);
    }
    in_repeats(p_, wide_, rows, [&](u64 e, u64 n) {
      const u64 at = e * bytes();
      if (wide_) return p_.vmuls(Type::f32, out_at(slot) + at, numbers_ + at, isa::f32(1), n, 1, 1, 8, 8);
      p_.vmuls(Type::f16, out_at(slot) + at, numbers_ + at, isa::f16(1), n, 1, 1, 8, 8);
    });
  }

  void store(u32 slot) override {
    p_.mul(at_, tiles_.row(), bytes());
    p_.add(at_, at_, pointers_.back());
    p_.mul(length_, tiles_.row_count(), bytes());
    if (is_joint(chip_)) {
      p_.add(length_, length_, 31);
      p_.shr(length_, length_, 5);
      p_.pipe_barrier(PipeId::MTE3);
      return p_.copy_ubuf_to_gm(at_, out_at(slot), 0, 1, length_, 0, 0);
    }
    wide_ ? p_.copy_ubuf_to_gm_align_b32(at_, out_at(slot), 0, 1, length_, 0, 0, 0, 0)
          : p_.copy_ubuf_to_gm_align_b16(at_, out_at(slot), 0, 1, length_, 0, 0, 0, 0);
  }

  // Else the last block of results of a tile goes over those of the next one, which must be stored later.
  u32 most_blocks() const override { return is_joint(chip_) && tiles_.rows() % kBlockRows != 0 ? 1 : ~u32{0}; }

  const RowReduction& x_;
  const bool wide_, in_f32_, by_rows_;
  const u64 work_, lanes_, out_, spread_, trash_;
  Reg at_, length_;
};

std::vector<Tiling> reduce_tilings(const Group& group, const config::ChipConfig& chip) {
  const RowSpace space = reduce_rows(group).space;
  std::vector<Tiling> out = whole_row_tilings(space, chip, kReduceFixed, reduce_element_bytes(group), kReduceRowBytes);
  if (!is_joint(chip)) return out;
  // A tile of a joint core ends with a block of 32 B of results. Where so many rows do not fit twice, and as f32, they
  // come once, and become f32 row by row.
  for (Tiling& t : out) {
    i64& rows = t.at("rows");
    rows = rows >= kBlockRows ? rows / kBlockRows * kBlockRows : rows;
  }
  const Tiling by_rows{{"rows", kBlockRows}, {"by_rows", 1}};
  const bool few = !out.empty() && out[0].at("rows") < kBlockRows && space.rows() > kBlockRows;
  if (few && space.outer.back() % kBlockRows == 0 && space.width > kLanes32 && reduces_in_f32(group.node()) &&
      reduce_footprint(group, chip, by_rows).ub <= chip.core.buffers.ub)
    out.insert(out.begin(), by_rows);
  return out;
}

std::string reduce_refuses(const Group& group, const config::ChipConfig& chip) {
  const Node& node = group.node();
  if (row_reduction(node.type) == nullptr) return "it is no reduction";
  if (std::string reason = not_rows(group); !reason.empty()) return reason;
  if (!last_reduced_axes(node)) return "its axes are not the last ones";
  if (chip.arch == isa::Arch::c100 && row_reduction(node.type)->each != "vadd" && node.input(0)->type == DataType::f32)
    return "c100 has no vcmax of f32";
  if (reduce_tilings(group, chip).empty()) return "a row does not fit UB";
  return "";
}

Formats reduce_formats(const Group&, const config::ChipConfig&) {
  return {.inputs = {isa::Format::ND}, .outputs = {isa::Format::ND}};
}

KernelProgram reduce_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  const RowTiling rows = row_tiling(reduce_rows(group).space, tiling);
  return ReduceWriter(group, chip, rows, tiling.contains("by_rows")).build();
}

}  // namespace

const Kernel kReductionKernel{"reduction",    reduce_refuses,   reduce_formats,
                              reduce_tilings, reduce_footprint, reduce_build};

}  // namespace vinci::graph
