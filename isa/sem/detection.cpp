// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <cstring>

#include "isa/census/lanes.h"
#include "isa/insns/vsort.h"

namespace vinci::isa::insn {
namespace {

// 16 numbers, in the first lanes of a repeat; the rest is zero, which raises nothing.
using Row16 = LaneBuffer;

u32 row_bytes(LaneType type) { return kProposals * lane_bytes(type); }

// `value` in all 16.
Row16 same(u32 value, LaneType type) {
  Row16 row{};
  for (u32 i = 0; i < kProposals; ++i)
    std::memcpy(row.bytes.data() + usize{i} * lane_bytes(type), &value, lane_bytes(type));
  return row;
}

Row16 load_row(const View& ub, u64 address, LaneType type) {
  Row16 row{};
  std::memcpy(row.bytes.data(), ub.bytes(address, row_bytes(type)).data(), row_bytes(type));
  return row;
}
void store_row(const View& ub, u64 address, const Row16& row, LaneType type) {
  std::memcpy(ub.bytes(address, row_bytes(type)).data(), row.bytes.data(), row_bytes(type));
}

u32 load_element(const View& ub, u64 address, LaneType type) {
  u32 bits = 0;
  std::memcpy(&bits, ub.bytes(address, lane_bytes(type)).data(), lane_bytes(type));
  return bits;
}

// x1, y1, x2, y2 of 16 proposals.
using Boxes = std::array<Row16, 4>;
Boxes load_boxes(const View& ub, u64 address, LaneType type) {
  Boxes boxes{};
  const u32 bytes = lane_bytes(type);
  const std::span<const std::byte> all = ub.bytes(address, u64{row_bytes(type)} * kProposalElements);
  for (u32 p = 0; p < kProposals; ++p) {
    for (u32 f = 0; f < boxes.size(); ++f) {
      std::memcpy(boxes[f].bytes.data() + usize{p} * bytes, all.data() + (usize{p} * kProposalElements + f) * bytes,
                  bytes);
    }
  }
  return boxes;
}
// The same proposal 16 times.
Boxes same_box(const View& ub, u64 address, LaneType type) {
  Boxes boxes{};
  for (u32 f = 0; f < boxes.size(); ++f)
    boxes[f] = same(load_element(ub, address + u64{f} * lane_bytes(type), type), type);
  return boxes;
}

// Operations on rows with the rules of the lane kernels, collecting their STATUS bits.
class Calculator {
 public:
  Calculator(ExecContext& c, LaneType type)
      : c_(c), type_(type), mode_{.overflow = c.overflow, .precision = c.numerics.precision} {
    const u16 offset = c.arch == Arch::m100 ? kF16One : static_cast<u16>(c.spr[SprId::rpn_offset]);
    offset_ = same(type == LaneType::f16 ? offset : f16_to_f32(offset), type);
  }
  Row16 operator()(BinaryOp op, const Row16& a, const Row16& b) {
    Row16 out{};
    const u64 raised = binary_kernel(op, type_)(a, b, out, mode_);
    if (c_.census != nullptr) count(op, a, b, raised);
    c_.status |= raised;
    return out;
  }
  // to - from + offset
  Row16 side(const Row16& from, const Row16& to) {
    return (*this)(BinaryOp::add, (*this)(BinaryOp::sub, to, from), offset_);
  }
  Row16 not_negative(const Row16& a) { return (*this)(BinaryOp::max, a, Row16{}); }

 private:
  void count(BinaryOp op, const Row16& a, const Row16& b, u64 raised) {
    LaneMode ieee = mode_;
    ieee.overflow = OverflowMode::inf_nan;
    Row16 result{};
    binary_kernel(op, type_)(a, b, result, ieee);
    const LaneBits row{(u64{1} << kProposals) - 1, 0};
    const LaneEvents events =
        events_of({.rule = lane_rule(op),
                   .src = type_,
                   .dst = type_,
                   .a = &a,
                   .b = &b,
                   .second = type_,
                   .ieee = &result,
                   .saturates = type_ == LaneType::f16 && mode_.overflow == OverflowMode::saturation,
                   .raised = raised,
                   .lanes = kProposals,
                   .active = row});
    report(*c_.census, events, kProposals, row, element_,
           std::array{NamedLanes{"left", type_, &a}, NamedLanes{"right", type_, &b}}, {"", type_, &result});
    element_ += kProposals;
  }

  ExecContext& c_;
  LaneType type_;
  u64 element_ = 0;
  LaneMode mode_;
  Row16 offset_{};
};

}  // namespace

Footprint area_footprint(const SortArgs& x, LaneType type) {
  const u64 bytes = u64{x.repeat} * row_bytes(type);
  return {ub_blocks(x.src, bytes * kProposalElements, false, "src"), ub_blocks(x.dst, bytes, true, "dst")};
}

void proposal_area(const SortArgs& x, LaneType type, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  Calculator calc(c, type);
  for (u32 r = 0; r < x.repeat; ++r) {
    const auto [x1, y1, x2, y2] = load_boxes(ub, x.src + u64{r} * row_bytes(type) * kProposalElements, type);
    store_row(ub, x.dst + u64{r} * row_bytes(type), calc(BinaryOp::mul, calc.side(x1, x2), calc.side(y1, y2)), type);
  }
}

Footprint pair_footprint(const SortArgs& x, LaneType type, u32 elements) {
  if (x.repeat == 0) return {};
  const u64 bytes = row_bytes(type);
  return {ub_blocks(x.src, bytes * elements * x.repeat, false, "src0"),
          ub_blocks(x.src1, bytes * elements, false, "src1"),
          ub_blocks(x.dst, bytes * kProposals * x.repeat, true, "dst")};
}

void area_sums(const SortArgs& x, LaneType type, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  Calculator calc(c, type);
  for (u32 i = 0; i < u32{x.repeat} * kProposals; ++i) {
    const Row16 one = same(load_element(ub, x.src + u64{i} * lane_bytes(type), type), type);
    store_row(ub, x.dst + u64{i} * row_bytes(type), calc(BinaryOp::add, one, load_row(ub, x.src1, type)), type);
  }
}

void intersections(const SortArgs& x, LaneType type, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  Calculator calc(c, type);
  for (u32 i = 0; i < u32{x.repeat} * kProposals; ++i) {
    const auto [ax1, ay1, ax2, ay2] = same_box(ub, x.src + u64{i} * kProposalElements * lane_bytes(type), type);
    const auto [bx1, by1, bx2, by2] = load_boxes(ub, x.src1, type);
    const Row16 width = calc.side(calc(BinaryOp::max, ax1, bx1), calc(BinaryOp::min, ax2, bx2));
    const Row16 height = calc.side(calc(BinaryOp::max, ay1, by1), calc(BinaryOp::min, ay2, by2));
    store_row(ub, x.dst + u64{i} * row_bytes(type),
              calc(BinaryOp::mul, calc.not_negative(width), calc.not_negative(height)), type);
  }
}

Footprint rpn_cor_footprint(const RpnCorArgs& x) {
  const auto source = [&](u32 address, u16 stride, std::string_view operand) {
    Access a = ub_blocks(address, kBlockBytes, false, operand);
    a.count[0] = stride == 0 ? std::min<u32>(x.repeat, 1) : x.repeat;
    a.stride[0] = i64{stride} * kBlockBytes;
    return a;
  };
  return {source(x.src0, x.src0RepStride, "src0"), source(x.src1, x.src1RepStride, "src1")};
}

void rpn_cor(const RpnCorArgs& x, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  for (u32 r = 0; r < x.repeat; ++r) {
    for (u32 k = 0; k < kProposals; ++k) {
      const u16 row = ub.load<u16>(x.src0 + u64{r} * x.src0RepStride * kBlockBytes + u64{k} * 2);
      const u16 suppressed = ub.load<u16>(x.src1 + u64{r} * x.src1RepStride * kBlockBytes + u64{k} * 2);
      if (suppressed == 0) c.results.rpn_cor_ir |= row;
    }
  }
}

Footprint rpn_cor_diag_footprint(const SortArgs& x) {
  return {ub_blocks(x.src, kBlockBytes, false, "src"), ub_blocks(x.dst, kBlockBytes, true, "dst")};
}

void rpn_cor_diag(const SortArgs& x, ExecContext& c) {
  const View& ub = c.mem[BufId::UB];
  u64 suppressed = c.results.rpn_cor_ir;
  for (u32 k = 0; k < kProposals; ++k) {  // proposal k is decided once all before it have spoken
    const u64 later = ~u64{0} << (k + 1);
    if ((suppressed >> k & 1) == 0) suppressed |= ub.load<u16>(x.src + u64{k} * 2) & later;
  }
  for (u32 k = 0; k < kProposals; ++k)
    ub.store<u16>(x.dst + u64{k} * 2, static_cast<u16>(suppressed >> k & 1));
}

}  // namespace vinci::isa::insn
