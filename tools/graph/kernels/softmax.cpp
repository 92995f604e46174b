// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/kernels/row_math.h"
#include "tools/graph/kernels/vector_ops.h"
#include "tools/graph/ops/op.h"

// Softmax, or its logarithm, along the last axis: whole rows, exponentials and sums in f32.
namespace vinci::graph {
namespace {

using isa::PipeId, isa::Type;

bool is_log(const Node& node) { return node.type == "LogSoftmaxV2"; }

Rows softmax_rows(const Group& group) { return last_axes_as_rows(*group.node().input(0), *group.node().output(), 1); }

// Of an element: two slots of the input and of the output, and the row in f32.
u64 softmax_element_bytes(const Group& group) { return 4 * info(group.node().input(0)->type).bytes + 4; }
constexpr u64 kSoftmaxRowBytes = RowMath::kLaneBytes + RowMath::kSpreadBytes + 8;
constexpr u64 kSoftmaxFixed = 1024 + 16 * RowMath::kSpreadBytes;

class SoftmaxWriter final : public RowKernel {
 public:
  SoftmaxWriter(const Group& group, const config::ChipConfig& chip, RowTiling tiling)
      : RowKernel(group, chip, softmax_rows(group), tiling),
        wide_(group.node().input(0)->type == DataType::f32),
        by_scalar_(wide_ && is_joint(chip)),
        work_(take(elements() * 4)),
        out_(take(2 * elements() * bytes())),
        lanes_(take(tiles_.rows() * RowMath::kLaneBytes)),
        spread_(take(spread_rows() * RowMath::kSpreadBytes)),
        ones_(take(256)) {}

 private:
  u64 bytes() const { return wide_ ? 4 : 2; }
  u64 out_at(u32 slot) const { return out_ + slot * elements() * bytes(); }

  void prologue() override {
    if (by_scalar_) {
      for (isa::Reg* const r : {&registers_.from, &registers_.to, &registers_.number})
        *r = p_.reg("number");
    }
    p_.vector_dup(Type::f32, ones_, isa::f32(1), 1, 1, 1, 8, 8);
    p_.pipe_barrier(PipeId::V);
  }

  void compute(u32 slot, u64 rows) override {
    const u64 all = rows * tiles_.pitch(), in = in_at(slot);
    math_.combine("vmax", wide_, numbers_, in, lanes_, rows);
    in_repeats(p_, true, all, [&](u64 e, u64 n) {
      wide_ ? p_.vmuls(Type::f32, work_ + e * 4, in + e * 4, isa::f32(1), n, 1, 1, 8, 8)
            : p_.vconv_f162f32(work_ + e * 4, in + e * 2, n, 1, 1, 8, 4);
    });
    math_.with_numbers("vsub", work_, spread(slot, wide_, math_.step("vmax"), rows), rows);
    const bool log = is_log(group_.node());
    // The logarithm needs the exponentials for their sum alone: the input is read once more for it.
    if (log) keep_shifted(slot, all);
    in_repeats(p_, true, all, [&](u64 e, u64 n) { p_.vexp(Type::f32, work_ + e * 4, work_ + e * 4, n, 1, 1, 8, 8); });
    math_.sum(numbers_, work_, lanes_, rows);
    if (log) return finish_log(slot, rows);
    in_repeats(p_, true, rows, [&](u64 e, u64 n) {
      p_.vdiv(Type::f32, numbers_ + e * 4, ones_, numbers_ + e * 4, n, 1, 0, 1, 8, 0, 8);
    });
    math_.with_numbers("vmul", work_, spread(slot, true, 1, rows), rows);
    put(slot, work_, all);
  }

  // The numbers of all rows.
  RowMath::Blocks spread(u32 slot, bool wide, u64 step, u64 rows) {
    if (by_scalar_) return math_.spread_by_scalar(numbers_, rows, spread_, registers_, slot);
    return math_.spread(numbers_, wide, step, rows, spread_);
  }

  // x - max in the place of the input, in the type of the input.
  void keep_shifted(u32 slot, u64 all) { put_at(in_at(slot), work_, all); }

  void finish_log(u32 slot, u64 rows) {
    const u64 all = rows * tiles_.pitch();
    in_repeats(p_, true, rows,
               [&](u64 e, u64 n) { p_.vln(Type::f32, numbers_ + e * 4, numbers_ + e * 4, n, 1, 1, 8, 8); });
    in_repeats(p_, true, all, [&](u64 e, u64 n) {
      wide_ ? p_.vmuls(Type::f32, work_ + e * 4, in_at(slot) + e * 4, isa::f32(1), n, 1, 1, 8, 8)
            : p_.vconv_f162f32(work_ + e * 4, in_at(slot) + e * 2, n, 1, 1, 8, 4);
    });
    math_.with_numbers("vsub", work_, spread(slot, true, 1, rows), rows);
    put(slot, work_, all);
  }

  void put_at(u64 to, u64 from, u64 all) {
    in_repeats(p_, true, all, [&](u64 e, u64 n) {
      wide_ ? p_.vmuls(Type::f32, to + e * 4, from + e * 4, isa::f32(1), n, 1, 1, 8, 8)
            : p_.vconv_f322f16(to + e * 2, from + e * 4, n, 1, 1, 4, 8);
    });
  }
  void put(u32 slot, u64 from, u64 all) { put_at(out_at(slot), from, all); }

  void store(u32 slot) override { tiles_.store(p_, rows_.views[1], pointers_[1], out_at(slot), slot); }

  const bool wide_, by_scalar_;
  const u64 work_, out_, lanes_, spread_, ones_;
  RowMath::ScalarRegisters registers_;
};

std::vector<Tiling> softmax_tilings(const Group& group, const config::ChipConfig& chip) {
  return whole_row_tilings(softmax_rows(group).space, chip, kSoftmaxFixed, softmax_element_bytes(group),
                           kSoftmaxRowBytes);
}

std::string softmax_refuses(const Group& group, const config::ChipConfig& chip) {
  const Node& node = group.node();
  if (node.type != "SoftmaxV2" && !is_log(node)) return "it is no Softmax";
  if (std::string reason = not_rows(group); !reason.empty()) return reason;
  const usize rank = node.input(0)->shape.rank();
  if (axis_of(node, node.integer("axis", -1), rank) != rank - 1) return "its axis is not the last one";
  if (chip.arch == isa::Arch::c100 && node.input(0)->type == DataType::f32) return "the chip has no vcmax of f32";
  if (softmax_tilings(group, chip).empty()) return "a row does not fit UB";
  return "";
}

Formats softmax_formats(const Group&, const config::ChipConfig&) {
  return {.inputs = {isa::Format::ND}, .outputs = {isa::Format::ND}};
}

Footprint softmax_footprint(const Group& group, const config::ChipConfig&, const Tiling& tiling) {
  const u64 pitch = align_up<u64>(softmax_rows(group).space.width, 16);
  return {.ub = kSoftmaxFixed +
                static_cast<u64>(tiling.at("rows")) * (pitch * softmax_element_bytes(group) + kSoftmaxRowBytes)};
}

KernelProgram softmax_build(const Group& group, const config::ChipConfig& chip, const Tiling& tiling) {
  return SoftmaxWriter(group, chip, row_tiling(softmax_rows(group).space, tiling)).build();
}

}  // namespace

const Kernel kSoftmaxKernel{"softmax",       softmax_refuses,   softmax_formats,
                            softmax_tilings, softmax_footprint, softmax_build};

}  // namespace vinci::graph
