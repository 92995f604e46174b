// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/vector_convert.h"

#include "isa/sem/quant.h"
#include "isa/sem/vector_ops.h"
#include "isa/sem/vector_stages.h"

namespace vinci::isa::insn {
namespace {

constexpr u32 kFactors = 16;  // of a vector dequantisation
constexpr u32 kHalfBlock = kBlockBytes / 2;

template <class T>
T lane(const LaneBuffer& lanes, usize i) {
  T value;
  std::memcpy(&value, lanes.bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

using Factors = std::array<u64, kFactors>;

u64 factor_address(const Spr& spr) { return std::min(spr[SprId::deqscale], u64{1} << 32) * kBlockBytes; }

Access factor_access(const Spr& spr) {
  return {.buffer = BufId::UB,
          .align = kBlockBytes,
          .address = factor_address(spr),
          .len = sizeof(Factors),
          .operand = "deqscale"};
}

Factors factors(const ExecContext& c, bool vector) {
  Factors f;
  if (vector) {
    std::memcpy(f.data(), c.mem[BufId::UB].bytes(factor_address(c.spr), sizeof f).data(), sizeof f);
  } else {
    f.fill(c.spr[SprId::deqscale]);
  }
  return f;
}

// An 8-bit result of a dequantisation, and what happened to it.
struct Deq8 {
  u8 bits = 0;
  NumericEvents events = 0;
  u64 raised = 0;
};

// s16 to s8 or u8 with a quantisation parameter: scaled, rounded and limited to 9 bits, then offset and limited.
Deq8 deq8(i16 value, u64 parameter) {
  const QuantParameter p = quant_parameter(parameter);
  const float scaled = static_cast<float>(value) * p.scale;
  const IntRange range = range_b8(p.is_signed);
  constexpr IntRange kWide{-0x10000, 0x10000};
  const i32 sum = quantise(scaled, p.offset, kWide);
  const i32 result = std::clamp(sum, range.least, range.most);
  const float nine_bits = std::nearbyint(scaled);
  const bool fits = sum == result && nine_bits >= -256 && nine_bits <= 255;
  Deq8 out{.bits = static_cast<u8>(result), .events = fits ? NumericEvents{0} : bit(NumericEvent::clipped)};
  out.raised = status_of(out.events, !std::isfinite(p.scale));
  if (!p.is_signed && sum < 0 && std::isfinite(p.scale)) out.raised |= status::kNegativeToUnsigned;
  return out;
}

// A mask of 16-bit lanes as it falls on one half of each block of 8-bit results.
OperandMask half_mask(const LaneBits& mask, Half half) {
  OperandMask m;
  m.span = BlockSpan(mask, LaneType::s16);
  for (u32 i = 0; i < kRepeatBlocks * kHalfBlock; ++i) {
    if ((mask[i / 64] >> (i % 64) & 1) == 0) continue;
    m.bits.bytes[i / kHalfBlock * kBlockBytes + (half == Half::high ? kHalfBlock : 0) + i % kHalfBlock] =
        std::byte{0xff};
  }
  return m;
}

// Where the lanes of a dequantisation to 8 bits go.
u32 deq8_byte(u32 lane, Half half) {
  if (half == Half::packed) return lane;
  return lane / kHalfBlock * kBlockBytes + (half == Half::high ? kHalfBlock : 0) + lane % kHalfBlock;
}

// The repeats of a dequantisation to 8 bits. values(sources, s16 lanes, active lanes, repeat) gives what is
// dequantised, its STATUS, and its events where there is a census.
struct Deq8Input {
  u64 raised = 0;
  LaneEvents events{};
};
template <usize N, class Values>
void deq8_repeats(ExecContext& c, u32 repeat, bool vector, Half half, const std::array<Operand, N>& src,
                  const Operand& dst, Values values) {
  const u32 lanes = lanes_per_repeat(LaneType::s16);
  const Selection selection(c.spr, c.arch, lanes, repeat);
  if (selection.empty()) return;
  const Factors f = factors(c, vector);
  const View& ub = c.mem[BufId::UB];
  for_each_source<N>(c, selection, src, [&](const Run& run, u32 r, const auto& in) {
    LaneBuffer s16, out, results{};
    Deq8Input input = values(in, s16, run.mask);
    for (u32 i = 0; i < lanes; ++i) {
      if ((run.mask[i / 64] >> (i % 64) & 1) == 0) continue;  // an offset makes something of every lane
      const Deq8 value = deq8(lane<i16>(s16, i), f[i % kFactors]);
      out.bytes[deq8_byte(i, half)] = results.bytes[i] = static_cast<std::byte>(value.bits);
      input.raised |= value.raised;
      if (has(value.events, NumericEvent::clipped)) input.events[i / 64][NumericEvent::clipped] |= u64{1} << (i % 64);
    }
    c.status |= input.raised;
    if (c.census != nullptr) {
      std::array<NamedLanes, N> operands;
      for (usize s = 0; s < N; ++s)
        operands[s] = {N == 1 ? "src" : s == 0 ? "src0" : "src1", LaneType::s16, &in[s]};
      const bool is_signed = quant_parameter(f[0]).is_signed;
      report(*c.census, input.events, lanes, run.mask, u64{r} * lanes, operands,
             {"", is_signed ? LaneType::s8 : LaneType::u8, &results});
    }
    store_lanes(ub, dst, r, half == Half::packed ? OperandMask(run.mask, lanes, dst.type) : half_mask(run.mask, half),
                out);
  });
}

// What the destination of a dequantisation to 8 bits is in blocks: half blocks take as many blocks as the source has.
LaneType deq8_blocks(Half half) { return half == Half::packed ? LaneType::s8 : LaneType::s16; }

// s32 * f16, rounded once to f16.
RoundedF16 deq16(i32 value, u16 scale) {
  const bool negative = (value < 0) != ((scale & 0x8000) != 0);
  if (!f16_finite(scale)) {
    if (f16_nan(scale) || value == 0) return {kF16Nan};
    return {static_cast<u16>((negative ? 0x8000 : 0) | kF16Inf)};
  }
  const Exact factor = exact_of<Binary16>(scale);
  const u64 magnitude = exact_of_int(value).magnitude * factor.magnitude;  // 32 and 11 bits
  return round_to<Binary16>({negative, magnitude, factor.exponent}, RoundMode::rint);
}

u64 deq16_lanes(const LaneBuffer& in, u16 scale, LaneBuffer& out, LaneMode mode) {
  u64 raised = f16_finite(scale) ? 0 : status::kVectorNanInf;
  for (usize i = 0; i < lanes_per_repeat(LaneType::s32); ++i) {
    const RoundedF16 r = deq16(lane<i32>(in, i), scale);
    if (r.overflow) raised |= status::kFloatOverflow;
    if (r.underflow) raised |= status::kFloatUnderflow;
    const u16 bits = saturate_f16(r.bits, mode.overflow);
    std::memcpy(out.bytes.data() + i * sizeof bits, &bits, sizeof bits);
  }
  return raised;
}

}  // namespace

void convert_lanes(const UnaryOperands& o, RoundMode round, ExecContext& c) {
  const UnaryKernel wrapping = (c.spr.ctrl & ctrl::kWrapCasts) != 0 && contains(kSplitArchs, c.arch)
                                   ? wrapping_convert_kernel(o.src.type, o.dst.type, round)
                                   : nullptr;
  const UnaryKernel kernel = wrapping != nullptr ? wrapping : convert_kernel(o.src.type, o.dst.type, round);
  VINCI_CHECK(kernel != nullptr);
  const std::array src{o.src};
  const Selection selection(c.spr, c.arch, o.lanes(), o.repeat);
  const RepeatsKernel repeats = wrapping != nullptr ? nullptr : convert_repeats(o.src.type, o.dst.type, round);
  const LaneCensus census{.rule = o.src.type == o.dst.type ? LaneRule::moved : LaneRule::convert,
                          .op = LaneOp::Kind::convert,
                          .names = {"src"},
                          .round = round,
                          .wraps = wrapping != nullptr};
  for_each_repeat<1>(
      c, compute_in_place(c, selection, repeats, o.dst, src, census), o.dst, src,
      [&](const auto& in, LaneBuffer& out, LaneMode mode) { return kernel(in[0], out, mode); }, census);
}

void deq_lanes(const UnaryOperands& o, ExecContext& c) {
  const u16 scale = static_cast<u16>(c.spr[SprId::deqscale]);
  const LaneBuffer scales = broadcast(scale, LaneType::f16);
  for_each_repeat<1>(
      c, {c.spr, c.arch, o.lanes(), o.repeat}, o.dst, {o.src},
      [&](const auto& in, LaneBuffer& out, LaneMode mode) { return deq16_lanes(in[0], scale, out, mode); },
      {.rule = LaneRule::product,
       .op = LaneOp::Kind::scale,
       .names = {"src", "deqscale"},
       .second = &scales,
       .second_type = LaneType::f16});
}

void convert_execute(const VectorUnaryArgs& x, LaneType from, LaneType to, RoundMode round, ExecContext& c) {
  convert_lanes(operands_of(x, {to, from}, c.arch), round, c);
}
void deq_execute(const VectorUnaryArgs& x, ExecContext& c) {
  deq_lanes(operands_of(x, {LaneType::f16, LaneType::s32}, c.arch), c);
}

Footprint deq8_footprint(const VectorUnaryArgs& x, bool vector, Half half, const Spr& spr, Arch arch) {
  const Selection selection(spr, arch, lanes_per_repeat(LaneType::s16), x.repeat);
  Footprint f;
  if (selection.empty()) return f;
  add_accesses(f, selection, src_of(x, LaneType::s16), false, "src");
  if (vector) f.add(factor_access(spr));
  add_accesses(f, selection, dst_of(x, deq8_blocks(half), arch), true, "dst");
  return f;
}

void deq8_execute(const VectorUnaryArgs& x, bool vector, Half half, ExecContext& c) {
  deq8_repeats<1>(c, x.repeat, vector, half, {src_of(x, LaneType::s16)}, dst_of(x, deq8_blocks(half), c.arch),
                  [](const auto& in, LaneBuffer& s16, const LaneBits&) {
                    s16 = in[0];
                    return Deq8Input{};
                  });
}

Footprint fused_footprint(const VectorBinaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch) {
  if (x.option != 0) {
    fail(Fault::Unsupported, "h = 1 is public for the dequantisation to 8 bits alone; h = 0 is supported");
  }
  return binary_footprint(x, shape, spr, arch);
}

namespace {

// What a conversion raises whose source was computed from `a` and `b`.
u64 status_behind(LaneType type, UnaryKernel convert, const LaneBuffer& a, const LaneBuffer& b,
                  const LaneBuffer& middle, LaneMode mode) {
  LaneBuffer unused;
  return convert(finite_between(type, a, b, middle), unused, mode);
}

}  // namespace

void compute_fused(const BinaryOperands& o, BinaryOp op, ExecContext& c) {
  const LaneType type = o.src0.type;
  const BinaryKernel compute = binary_kernel(op, type);
  const UnaryKernel convert = convert_kernel(type, o.dst.type, RoundMode::rint);
  VINCI_CHECK(compute != nullptr && convert != nullptr);
  const Selection selection(c.spr, c.arch, o.lanes(), o.repeat);
  const LaneMode mode = lane_mode(c);
  const auto both = [&](const auto& in, LaneBuffer& middle, LaneBuffer& out) {
    const u64 raised = compute(in[0], in[1], middle, mode);
    const u64 converted = convert(middle, out, mode);
    const bool plain = !is_float(type) || (raised & (status::kFloatOverflow | status::kVectorNanInf)) == 0;
    return raised | (plain ? converted : status_behind(type, convert, in[0], in[1], middle, mode));
  };
  const u32 lanes = selection.lanes();
  const std::array src{o.src0, o.src1};
  const Stage first{lane_rule(op), type, type, before_relu(op, type)}, second{LaneRule::convert, type, o.dst.type};
  const auto count = [&](const Run& run, u32 r, const auto& in, const LaneBuffer& middle, const LaneBuffer& out) {
    LaneBuffer ieee;
    const u64 raised = convert(middle, ieee, unsaturated(mode));
    const LaneEvents events = first_stage_events(c, first, compute, in[0], in[1], lanes, run.mask) |
                              stage_events(c, second, middle, nullptr, ieee, raised, lanes, run.mask);
    report(*c.census, events, lanes, run.mask, u64{r} * lanes,
           std::array{NamedLanes{"src0", type, &in[0]}, NamedLanes{"src1", type, &in[1]}}, {"", o.dst.type, &out});
  };
  for_each_repeat<2>(c, selection, o.dst, src, [&](const auto& in, LaneBuffer& out, const Run& run, u32 r) {
    LaneBuffer middle;
    const u64 raised = both(in, middle, out);
    if (c.census != nullptr) count(run, r, in, middle, out);
    return raised;
  });
}

void fused_execute(const VectorBinaryArgs& x, BinaryOp op, const LaneShape& shape, ExecContext& c) {
  compute_fused(operands_of(x, shape, c.arch), op, c);
}

Footprint fused_deq8_footprint(const VectorBinaryArgs& x, const Spr& spr, Arch arch) {
  const Selection selection(spr, arch, lanes_per_repeat(LaneType::s16), x.repeat);
  Footprint f;
  if (selection.empty()) return f;
  add_accesses(f, selection, src0_of(x, LaneType::s16), false, "src0");
  add_accesses(f, selection, src1_of(x, LaneType::s16), false, "src1");
  f.add(factor_access(spr));
  add_accesses(f, selection, dst_of(x, LaneType::s16, arch), true, "dst");
  return f;
}

void fused_deq8_execute(const VectorBinaryArgs& x, BinaryOp op, ExecContext& c) {
  const BinaryKernel compute = binary_kernel(op, LaneType::s16);
  VINCI_CHECK(compute != nullptr);
  const LaneMode mode = lane_mode(c);
  const Stage stage{lane_rule(op), LaneType::s16, LaneType::s16, before_relu(op, LaneType::s16)};
  const u32 lanes = lanes_per_repeat(LaneType::s16);
  deq8_repeats<2>(c, x.repeat, true, x.option != 0 ? Half::high : Half::low,
                  {src0_of(x, LaneType::s16), src1_of(x, LaneType::s16)}, dst_of(x, LaneType::s16, c.arch),
                  [&](const auto& in, LaneBuffer& s16, const LaneBits& active) {
                    Deq8Input input{.raised = compute(in[0], in[1], s16, mode)};
                    if (c.census != nullptr)
                      input.events = first_stage_events(c, stage, compute, in[0], in[1], lanes, active);
                    return input;
                  });
}

void add_deq_relu_execute(const VectorBinaryArgs& x, ExecContext& c) {
  const BinaryKernel add = binary_kernel(BinaryOp::add, LaneType::s32);
  const UnaryKernel relu = unary_kernel(UnaryOp::relu, LaneType::f16);
  VINCI_CHECK(add != nullptr && relu != nullptr);
  const u16 scale = static_cast<u16>(c.spr[SprId::deqscale]);
  const u32 lanes = lanes_per_repeat(LaneType::s32);
  const Selection selection(c.spr, c.arch, lanes, x.repeat);
  const std::array src{src0_of(x, LaneType::s32), src1_of(x, LaneType::s32)};
  const LaneBuffer scales = broadcast(scale, LaneType::f16);
  const LaneMode mode = lane_mode(c);
  const Stage first{LaneRule::sum, LaneType::s32, LaneType::s32};
  const Stage second{LaneRule::product, LaneType::s32, LaneType::f16, add};
  const auto count = [&](const Run& run, u32 r, const auto& in, const LaneBuffer& sum) {
    LaneBuffer scaled{};
    const u64 raised = deq16_lanes(sum, scale, scaled, unsaturated(mode));
    const LaneEvents events = first_stage_events(c, first, add, in[0], in[1], lanes, run.mask) |
                              stage_events(c, second, sum, &scales, scaled, raised, lanes, run.mask);
    report(*c.census, events, lanes, run.mask, u64{r} * lanes,
           std::array{NamedLanes{"src0", LaneType::s32, &in[0]}, NamedLanes{"src1", LaneType::s32, &in[1]}},
           {"", LaneType::f16, &scaled});
  };
  for_each_repeat<2>(c, selection, dst_of(x, LaneType::f16, c.arch), src,
                     [&](const auto& in, LaneBuffer& out, const Run& run, u32 r) {
                       LaneBuffer sum, scaled{};
                       const u64 raised = add(in[0], in[1], sum, mode) | deq16_lanes(sum, scale, scaled, mode);
                       if (c.census != nullptr) count(run, r, in, sum);
                       relu(scaled, out, mode);  // an infinity that it meets has raised its bits
                       return raised;
                     });
}

}  // namespace vinci::isa::insn
