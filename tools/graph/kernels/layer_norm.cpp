// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>

#include "tools/graph/kernels/row_math.h"
#include "tools/graph/kernels/vector_ops.h"
#include "tools/graph/ops/op.h"

// LayerNorm over the last axes: whole rows, mean and variance in f32; scale and offset stay in UB.
namespace vinci::graph {
namespace {

using isa::PipeId, isa::Type;

usize norm_axes(const Node& node) {
  const usize rank = node.input(0)->shape.rank();
  return rank - axis_of(node, node.integer("axis", -1), rank);
}
Rows norm_rows(const Group& group) {
  return last_axes_as_rows(*group.node().input(0), *group.node().output(), norm_axes(group.node()));
}

// Of an element: two slots of the input and of the output, and the row and its squares in f32.
u64 norm_element_bytes(const Group& group) { return 4 * info(group.node().input(0)->type).bytes + 8; }
// Scale and offset, as they come and in f32.
u64 norm_fixed(const Group& group) {
  return 1024 + 16 * RowMath::kSpreadBytes + align_up<u64>(norm_rows(group).space.width, 128) * 12;
}
constexpr u64 kNormRowBytes = RowMath::kLaneBytes + RowMath::kSpreadBytes + 8;

class LayerNormWriter final : public RowKernel {
 public:
  LayerNormWriter(const Group& group, const config::ChipConfig& chip, RowTiling tiling)
      : RowKernel(group, chip, norm_rows(group), tiling),
        wide_(group.node().input(0)->type == DataType::f32),
        work_(take(elements() * 4)),
        square_(take(elements() * 4)),
        out_(take(2 * elements() * bytes())),
        lanes_(take(tiles_.rows() * RowMath::kLaneBytes)),
        spread_(take(spread_rows() * RowMath::kSpreadBytes)),
        ones_(take(256)) {
    for (usize i = 1; i <= 2; ++i) {
      if (group.node().input(i) == nullptr) continue;
      affine_.push_back(take(align_up<u64>(rows_.space.width, 64) * 4));
    }
    narrow_ = take(align_up<u64>(rows_.space.width, 64) * 2);
  }

 private:
  u64 bytes() const { return wide_ ? 4 : 2; }
  u64 out_at(u32 slot) const { return out_ + slot * elements() * bytes(); }

  void prologue() override {
    p_.vector_dup(Type::f32, ones_, isa::f32(1), 1, 1, 1, 8, 8);
    const u64 width = rows_.space.width;
    for (usize i = 0; i < affine_.size(); ++i) {
      const Value* const v = group_.node().input(i + 1);
      const auto at = std::ranges::find(group_.inputs(), v) - group_.inputs().begin();
      const bool narrow = v->type == DataType::f16;
      // MTE2 may write when the vector unit has read what was there before.
      p_.hand_over(PipeId::V, PipeId::MTE2, 2);
      p_.copy_gm_to_ubuf(narrow ? narrow_ : affine_[i], pointers_[static_cast<usize>(at)], 0, 1,
                         ceil_div(width * (narrow ? 2 : 4), u64{32}), 0, 0);
      p_.hand_over(PipeId::MTE2, PipeId::V, 2);
      if (narrow)
        in_repeats(p_, true, width,
                   [&](u64 e, u64 n) { p_.vconv_f162f32(affine_[i] + e * 4, narrow_ + e * 2, n, 1, 1, 8, 4); });
    }
    p_.pipe_barrier(PipeId::V);
  }

  // In place, on a number for each row.
  void numbers(std::string_view name, double by, u64 rows) {
    in_repeats(p_, true, rows, [&](u64 e, u64 n) {
      p_.call(name, Type::f32, {numbers_ + e * 4, numbers_ + e * 4, isa::f32(static_cast<float>(by)), n, 1, 1, 8, 8});
    });
  }

  void compute(u32 slot, u64 rows) override {
    const u64 all = rows * tiles_.pitch(), in = in_at(slot);
    const double share = 1 / static_cast<double>(rows_.space.width);
    in_repeats(p_, true, all, [&](u64 e, u64 n) {
      wide_ ? p_.vmuls(Type::f32, work_ + e * 4, in + e * 4, isa::f32(1), n, 1, 1, 8, 8)
            : p_.vconv_f162f32(work_ + e * 4, in + e * 2, n, 1, 1, 8, 4);
    });
    math_.sum(numbers_, work_, lanes_, rows);
    numbers("vmuls", -share, rows);
    math_.with_numbers("vadd", work_, math_.spread(numbers_, true, 1, rows, spread_), rows);
    in_repeats(p_, true, all, [&](u64 e, u64 n) {
      p_.vmul(Type::f32, square_ + e * 4, work_ + e * 4, work_ + e * 4, n, 1, 1, 1, 8, 8, 8);
    });
    math_.sum(numbers_, square_, lanes_, rows);
    numbers("vmuls", share, rows);
    numbers("vadds", group_.node().number("epsilon", 1e-5), rows);
    in_repeats(p_, true, rows,
               [&](u64 e, u64 n) { p_.vsqrt(Type::f32, numbers_ + e * 4, numbers_ + e * 4, n, 1, 1, 8, 8); });
    in_repeats(p_, true, rows, [&](u64 e, u64 n) {
      p_.vdiv(Type::f32, numbers_ + e * 4, ones_, numbers_ + e * 4, n, 1, 0, 1, 8, 0, 8);
    });
    math_.with_numbers("vmul", work_, math_.spread(numbers_, true, 1, rows, spread_), rows);
    if (!affine_.empty()) math_.with_row("vmul", work_, work_, affine_[0], rows);
    if (affine_.size() > 1) math_.with_row("vadd", work_, work_, affine_[1], rows);
    in_repeats(p_, true, all, [&](u64 e, u64 n) {
      wide_ ? p_.vmuls(Type::f32, out_at(slot) + e * 4, work_ + e * 4, isa::f32(1), n, 1, 1, 8, 8)
            : p_.vconv_f322f16(out_at(slot) + e * 2, work_ + e * 4, n, 1, 1, 4, 8);
    });
  }

  void store(u32 slot) override { tiles_.store(p_, rows_.views[1], pointers_.back(), out_at(slot), slot); }

  const bool wide_;
  const u64 work_, square_, out_, lanes_, spread_, ones_;
  std::vector<u64> affine_;  // scale, offset
  u64 narrow_ = 0;
};

std::vector<Tiling> norm_tilings(const Group& group, const config::ChipConfig& chip) {
  return whole_row_tilings(norm_rows(group).space, chip, norm_fixed(group), norm_element_bytes(group), kNormRowBytes);
}

std::string norm_refuses(const Group& group, const config::ChipConfig& chip) {
  const Node& node = group.node();
  if (node.type != "LayerNorm") return "it is no LayerNorm";
  if (std::string reason = not_rows(group); !reason.empty()) return reason;
  if (is_joint(chip) && node.input(0)->type == DataType::f32) return "a joint core has no way to repeat numbers of f32";
  const u64 width = norm_rows(group).space.width;
  for (usize i = 1; i <= 2; ++i) {
    const Value* const v = node.input(i);
    if (v == nullptr) continue;
    if (i == 2 && node.input(1) == nullptr) return "it has an offset without a scale";
    if (!v->shape.known() || v->shape.elements() != width || width == 1) return "scale or offset is repeated";
    if (v->type != DataType::f16 && v->type != DataType::f32) return "scale or offset is neither f16 nor f32";
  }
  if (norm_tilings(group, chip).empty()) return "a row does not fit UB";
  return "";
}

Formats norm_formats(const Group& group, const config::ChipConfig&) {
  return {.inputs = std::vector(group.inputs().size(), isa::Format::ND), .outputs = {isa::Format::ND}};
}

Footprint norm_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  const u64 pitch = align_up<u64>(norm_rows(group).space.width, 16);
  return {.ub = norm_fixed(group) +
                static_cast<u64>(tiling.at("rows")) * (pitch * norm_element_bytes(group) + kNormRowBytes)};
}

KernelProgram norm_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  return LayerNormWriter(group, chip, row_tiling(norm_rows(group).space, tiling)).build();
}

}  // namespace

const Kernel kLayerNormKernel{"layer_norm", norm_refuses, norm_formats, norm_tilings, norm_footprint, norm_build};

}  // namespace vinci::graph
