// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>

#include "isa/base/enums.h"
#include "isa/insns/vector.h"

// Casts of the vector unit: vconv_<from>2<to><rounding>, dequantisation, and the arithmetic instructions that cast
// their result. Source: published documentation of the CCE intrinsic vconv, of Cast, CastDeq, AddReluCast, MulCast and
// AddDeqRelu; which architecture has which cast: CANN runtime platform_config.
namespace vinci::isa::insn {

// The letter at the end of the mnemonic; none means to nearest even where the cast rounds at all.
enum class Rounding : u8 { none, r, a, f, c, z, o };
inline constexpr auto kRoundingSuffixes = enum_table<Rounding, std::string_view>({{Rounding::none, ""},
                                                                                  {Rounding::r, "r"},
                                                                                  {Rounding::a, "a"},
                                                                                  {Rounding::f, "f"},
                                                                                  {Rounding::c, "c"},
                                                                                  {Rounding::z, "z"},
                                                                                  {Rounding::o, "o"}});
constexpr RoundMode mode_of(Rounding r) {
  constexpr auto kModes = enum_table<Rounding, RoundMode>({{Rounding::none, RoundMode::rint},
                                                           {Rounding::r, RoundMode::rint},
                                                           {Rounding::a, RoundMode::round},
                                                           {Rounding::f, RoundMode::floor},
                                                           {Rounding::c, RoundMode::ceil},
                                                           {Rounding::z, RoundMode::trunc},
                                                           {Rounding::o, RoundMode::odd}});
  return kModes[static_cast<usize>(r)];
}

// One line for each pair of types: the architectures that have the cast with each rounding.
struct CastPair {
  LaneType from, to;
  std::array<ArchSet, kRoundingSuffixes.size()> archs;
};
namespace detail {
inline constexpr ArchSet kAll = kAllArchs, kTwo = kVectorArchs2, kNew = kSplitArchs;
}
inline constexpr auto kCasts = [] {
  using enum LaneType;
  using detail::kAll, detail::kTwo, detail::kNew;
  return std::array<CastPair, 27>{{
      //            none  r     a     f     c     z     o
      {f16, f32, {kAll}},
      {f16, s32, {0, kAll, kAll, kAll, kAll, kAll}},
      {f16, s16, {0, kTwo, kNew, kNew, kNew, kNew}},
      {f16, s8, {kAll, kNew, kAll, kAll, kAll, kAll}},
      {f16, u8, {kAll, kNew, kAll, kAll, kAll, kAll}},
      {f16, s4, {kTwo, kNew, kNew, kNew, kNew, kNew}},
      {bf16, f32, {kNew}},
      {bf16, s32, {0, kNew, kNew, kNew, kNew, kNew}},
      {f32, f32, {0, kNew, kNew, kNew, kNew, kNew}},
      {f32, f16, {kAll, kNew, kNew, kNew, kNew, kNew, kAll}},
      {f32, bf16, {0, kNew, kNew, kNew, kNew, kNew}},
      {f32, s64, {0, kNew, kNew, kNew, kNew, kNew}},
      {f32, s32, {0, kAll, kAll, kAll, kAll, kAll}},
      {f32, s16, {0, kNew, kNew, kNew, kNew, kNew}},
      {s64, f32, {0, kNew, kNew, kNew, kNew, kNew}},
      {s64, s32, {kNew}},
      {s32, f32, {kAll, kNew, kNew, kNew, kNew, kNew}},
      {s32, f16, {kAll}},
      {s32, s64, {kNew}},
      {s32, s16, {kNew}},
      {s16, f32, {kNew}},
      {s16, f16, {kTwo, kNew, kNew, kNew, kNew, kNew}},
      {s16, s8, {kTwo}},
      {s16, u8, {kTwo}},
      {s8, f16, {kAll}},
      {u8, f16, {kAll}},
      {s4, f16, {kNew}},
  }};
}();
constexpr usize cast_index(LaneType from, LaneType to) {
  for (usize i = 0; i < kCasts.size(); ++i) {
    if (kCasts[i].from == from && kCasts[i].to == to) return i;
  }
  return kCasts.size();
}
// Whether every value of the one type is a value of the other.
constexpr bool is_exact_cast(LaneType from, LaneType to) {
  const auto digits = [](LaneType t) {
    return t == LaneType::f16 ? 11u : t == LaneType::bf16 ? 8u : t == LaneType::f32 ? 24u : lane_bits(t);
  };
  return is_float(from) == is_float(to) ? lane_bits(to) > lane_bits(from) : is_float(to) && digits(from) <= digits(to);
}

// Whether CTRL[59] makes the cast keep the low bits of the integer. Source: PTO-ISA, TCVT of A2 and A3.
constexpr bool wraps_on_request(LaneType from, LaneType to) {
  using enum LaneType;
  if (to == s16) return from == f16 || from == f32 || from == s32;
  return from == f16 ? to == s8 || to == u8 : from == s64 && to == s32;
}

namespace detail {

// Text put together at compile time.
struct Words {
  std::array<char, 256> chars{};
  usize size = 0;

  constexpr Words& operator+=(std::string_view s) {
    for (const char ch : s)
      chars[size++] = ch;
    return *this;
  }
  constexpr std::string_view view() const { return {chars.data(), size}; }
};

constexpr Words cast_name(LaneType from, LaneType to, Rounding rounding) {
  Words w;
  w += "vconv_";
  w += name(from);
  w += "2";
  w += name(to);
  w += kRoundingSuffixes[static_cast<usize>(rounding)];
  return w;
}

constexpr Words cast_doc(LaneType from, LaneType to, Rounding rounding) {
  constexpr auto kHow =
      enum_table<RoundMode, std::string_view>({{RoundMode::rint, "CAST_RINT: to nearest, ties to even"},
                                               {RoundMode::floor, "CAST_FLOOR: toward -infinity"},
                                               {RoundMode::ceil, "CAST_CEIL: toward +infinity"},
                                               {RoundMode::round, "CAST_ROUND: to nearest, ties away from zero"},
                                               {RoundMode::trunc, "CAST_TRUNC: toward zero"},
                                               {RoundMode::odd, "CAST_ODD: inexact results get an odd last bit"}});
  Words w;
  w += "dst = src, ";
  w += name(from);
  w += " to ";
  w += name(to);
  if (is_exact_cast(from, to)) {
    w += ", exact";
    return w;
  }
  if (from == to) w += " of an integral value";
  if (is_float(from) || is_float(to)) {
    w += ", ";
    w += rounding == Rounding::none ? "to nearest, ties to even" : kHow[static_cast<usize>(mode_of(rounding))];
  }
  if (!is_float(to))
    w += is_float(from) ? "; out of range: the nearest limit, NaN: 0" : "; out of range: the nearest limit";
  if (wraps_on_request(from, to)) w += "; with CTRL[59] the low bits";
  return w;
}

template <LaneType From, LaneType To, Rounding R>
inline constexpr Words kCastName = cast_name(From, To, R);
template <LaneType From, LaneType To, Rounding R>
inline constexpr Words kCastDoc = cast_doc(From, To, R);

}  // namespace detail

// Which half of each destination block the 8-bit results of a dequantisation fill: `packed` fills whole blocks, half as
// many as the source has; `low` and `high` fill one half of as many blocks as the source has.
enum class Half : u8 { packed, low, high };

// isa/sem/vector_convert.cpp
void convert_execute(const VectorUnaryArgs& x, LaneType from, LaneType to, RoundMode round, ExecContext& c);
void deq_execute(const VectorUnaryArgs& x, ExecContext& c);
Footprint deq8_footprint(const VectorUnaryArgs& x, bool vector, Half half, const Spr& spr, Arch arch);
void deq8_execute(const VectorUnaryArgs& x, bool vector, Half half, ExecContext& c);
Footprint fused_footprint(const VectorBinaryArgs& x, const LaneShape& shape, const Spr& spr, Arch arch);
void fused_execute(const VectorBinaryArgs& x, BinaryOp op, const LaneShape& shape, ExecContext& c);
Footprint fused_deq8_footprint(const VectorBinaryArgs& x, const Spr& spr, Arch arch);
void fused_deq8_execute(const VectorBinaryArgs& x, BinaryOp op, ExecContext& c);
void add_deq_relu_execute(const VectorBinaryArgs& x, ExecContext& c);

// dst = cast(src)
template <LaneType From, LaneType To, RoundMode Round, class A = VectorUnaryArgs>
struct CastForm {
  using Args = A;
  template <class Other>
  using On = CastForm<From, To, Round, Other>;
  static constexpr auto fields = FieldsOf<A>::cast;
  static Work work(const Args& x, const Spr& spr) { return vector_work(x.repeat, LaneShape{To, From}.lanes(), spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return unary_footprint(x, {To, From}, spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { convert_execute(x, From, To, Round, c); }
};

inline constexpr u16 kFirstCast = 0x200;

template <LaneType From, LaneType To, Rounding R>
struct Vconv : CastForm<From, To, mode_of(R)> {
  static constexpr usize kPair = cast_index(From, To);
  static_assert(kPair < kCasts.size());
  static constexpr std::string_view name = detail::kCastName<From, To, R>.view();
  static constexpr std::string_view doc = detail::kCastDoc<From, To, R>.view();
  static constexpr u16 opcode = kFirstCast + kPair * kRoundingSuffixes.size() + static_cast<usize>(R);
  static constexpr ArchSet archs = kCasts[kPair].archs[static_cast<usize>(R)];
  static constexpr CostClass cost = "vector.convert"_cost;
  static PipeId pipe(const VectorUnaryArgs&, Arch) { return PipeId::V; }
};

// dst (f16) = src (s32) * DEQSCALE (f16)
template <class A = VectorUnaryArgs>
struct DeqForm {
  using Args = A;
  template <class Other>
  using On = DeqForm<Other>;
  static constexpr auto fields = FieldsOf<A>::cast;
  static Work work(const Args& x, const Spr& spr) {
    return vector_work(x.repeat, lanes_per_repeat(LaneType::s32), spr);
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return unary_footprint(x, {LaneType::f16, LaneType::s32}, spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { deq_execute(x, c); }
};

// dst (s8 or u8) = saturate(rint(src (s16) * scale) to 9 bits + offset), with factors as DEQSCALE describes; with a
// vector of factors, lane i takes factor i % 16 of those at DEQSCALE * 32 in UB.
template <bool Vector, Half H>
struct Deq8Form {
  using Args = VectorUnaryArgs;
  static constexpr auto fields = kVectorUnaryFields;
  static Work work(const Args& x, const Spr& spr) {
    return vector_work(x.repeat, lanes_per_repeat(LaneType::s16), spr);
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return deq8_footprint(x, Vector, H, spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { deq8_execute(x, Vector, H, c); }
};

// dst = cast(op(src0, src1)), op rounds to the type of the sources, the cast to nearest even
template <BinaryOp Op, LaneType From, LaneType To, class A = VectorBinaryArgs>
struct FusedForm {
  using Args = A;
  template <class Other>
  using On = FusedForm<Op, From, To, Other>;
  static constexpr auto fields = FieldsOf<A>::fused;
  static Work work(const Args& x, const Spr& spr) { return vector_work(x.repeat, lanes_per_repeat(From), spr); }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return fused_footprint(x, {To, From}, spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { fused_execute(x, Op, {To, From}, c); }
};
template <BinaryOp Op, LaneType From, LaneType To>
struct FusedReluForm : FusedForm<Op, From, To> {
  static constexpr auto fields = std::tuple_cat(
      kVectorBinaryFields, std::tuple{Field<&VectorBinaryArgs::option>{
                               "h", 1, OperandKind::value,
                               "half of the destination block; public for the dequantisation alone: 0", true, 0}});
};

// dst (s8 or u8) = deq(op(src0, src1)), with the factors of vconv_vdeqs162b8
template <BinaryOp Op>
struct FusedDeq8Form {
  using Args = VectorBinaryArgs;
  static constexpr auto fields = std::tuple_cat(
      kVectorBinaryFields, std::tuple{Field<&Args::option>{"h", 1, OperandKind::value,
                                                           "half of the destination block: 0 low, 1 high", true, 0}});
  static Work work(const Args& x, const Spr& spr) {
    return vector_work(x.repeat, lanes_per_repeat(LaneType::s16), spr);
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) { return fused_deq8_footprint(x, spr, arch); }
  static void execute(const Args& x, ExecContext& c) { fused_deq8_execute(x, Op, c); }
};

struct AddDeqReluForm {
  using Args = VectorBinaryArgs;
  static constexpr auto fields = kVectorBinaryFields;
  static Work work(const Args& x, const Spr& spr) {
    return vector_work(x.repeat, lanes_per_repeat(LaneType::s32), spr);
  }
  static Footprint footprint(const Args& x, const Spr& spr, Arch arch) {
    return binary_footprint(x, {LaneType::f16, LaneType::s32}, spr, arch);
  }
  static void execute(const Args& x, ExecContext& c) { add_deq_relu_execute(x, c); }
};

template <Text Name, u16 Opcode, class Form, Text Doc, ArchSet Archs>
using Convert = VectorInsn<Name, Opcode, "vector.convert"_cost, Form, Doc, Archs>;
template <Text Name, u16 Opcode, class Form, Text Doc, ArchSet Archs>
using BinaryConvert = VectorInsn<Name, Opcode, "vector.binary"_cost, Form, Doc, Archs>;

using VaddreluconvF162s8 =
    BinaryConvert<"vaddreluconv_f162s8", 0x1b0, FusedReluForm<BinaryOp::add_relu, LaneType::f16, LaneType::s8>,
                  "dst (s8) = max(src0 + src1, 0), the sum in f16, then to nearest even", kVectorArchs2>;
using VaddreluconvS162s8 =
    BinaryConvert<"vaddreluconv_s162s8", 0x1b1, FusedReluForm<BinaryOp::add_relu, LaneType::s16, LaneType::s8>,
                  "dst (s8) = max(src0 + src1, 0), the sum in s16", kVectorArchs2>;
using VaddreluconvF322f16 =
    BinaryConvert<"vaddreluconv_f322f16", 0x1b2, FusedReluForm<BinaryOp::add_relu, LaneType::f32, LaneType::f16>,
                  "dst (f16) = max(src0 + src1, 0), the sum in f32, then to nearest even", kVectorArchs2>;
using VaddreluconvVdeqs162b8 =
    BinaryConvert<"vaddreluconv_vdeqs162b8", 0x1b3, FusedDeq8Form<BinaryOp::add_relu>,
                  "dst (s8 or u8) = deq(max(src0 + src1, 0)), the sum in s16; deq as vconv_vdeqs162b8l", kVectorArchs2>;
using VsubreluconvF162s8 =
    BinaryConvert<"vsubreluconv_f162s8", 0x1b4, FusedReluForm<BinaryOp::sub_relu, LaneType::f16, LaneType::s8>,
                  "dst (s8) = max(src0 - src1, 0), the difference in f16, then to nearest even", kVectorArchs2>;
using VsubreluconvS162s8 =
    BinaryConvert<"vsubreluconv_s162s8", 0x1b5, FusedReluForm<BinaryOp::sub_relu, LaneType::s16, LaneType::s8>,
                  "dst (s8) = max(src0 - src1, 0), the difference in s16", kVectorArchs2>;
using VsubreluconvF322f16 =
    BinaryConvert<"vsubreluconv_f322f16", 0x1b6, FusedReluForm<BinaryOp::sub_relu, LaneType::f32, LaneType::f16>,
                  "dst (f16) = max(src0 - src1, 0), the difference in f32, then to nearest even", kVectorArchs2>;
using VsubreluconvVdeqs162b8 =
    BinaryConvert<"vsubreluconv_vdeqs162b8", 0x1b7, FusedDeq8Form<BinaryOp::sub_relu>,
                  "dst (s8 or u8) = deq(max(src0 - src1, 0)), the difference in s16; deq as vconv_vdeqs162b8l",
                  kVectorArchs2>;
using VmulconvF162s8 = BinaryConvert<"vmulconv_f162s8", 0x1b8, FusedForm<BinaryOp::mul, LaneType::f16, LaneType::s8>,
                                     "dst (s8) = src0 * src1, the product in f16, then to nearest even", kAllArchs>;
using VmulconvF162u8 = BinaryConvert<"vmulconv_f162u8", 0x1b9, FusedForm<BinaryOp::mul, LaneType::f16, LaneType::u8>,
                                     "dst (u8) = src0 * src1, the product in f16, then to nearest even", kAllArchs>;
using Vadddeqrelu =
    BinaryConvert<"vadddeqrelu", 0x1ba, AddDeqReluForm,
                  "dst (f16) = max((src0 + src1) * DEQSCALE, 0), the sum in s32, DEQSCALE f16", kJointArchs>;

using VconvDeq = Convert<"vconv_deq", 0x2be, DeqForm<>,
                         "dst (f16) = src (s32) * DEQSCALE (f16), rounded once to nearest even", kAllArchs>;
using VconvDeqs162b8 =
    Convert<"vconv_deqs162b8", 0x2bf, Deq8Form<false, Half::packed>,
            "dst = saturate(rint(src * scale) + offset), s16 to s8 or u8 as DEQSCALE says; results in 4 blocks",
            kVectorArchs2>;
using VconvDeqs162b8h = Convert<"vconv_deqs162b8h", 0x2c0, Deq8Form<false, Half::high>,
                                "as vconv_deqs162b8, results in the upper half of each of 8 blocks", kVectorArchs2>;
using VconvDeqs162b8l = Convert<"vconv_deqs162b8l", 0x2c1, Deq8Form<false, Half::low>,
                                "as vconv_deqs162b8, results in the lower half of each of 8 blocks", kVectorArchs2>;
using VconvVdeqs162b8 =
    Convert<"vconv_vdeqs162b8", 0x2c2, Deq8Form<true, Half::packed>,
            "as vconv_deqs162b8; lane i takes factor i % 16 of the 16 at UB address DEQSCALE * 32", kVectorArchs2>;
using VconvVdeqs162b8h = Convert<"vconv_vdeqs162b8h", 0x2c3, Deq8Form<true, Half::high>,
                                 "as vconv_vdeqs162b8, results in the upper half of each of 8 blocks", kVectorArchs2>;
using VconvVdeqs162b8l = Convert<"vconv_vdeqs162b8l", 0x2c4, Deq8Form<true, Half::low>,
                                 "as vconv_vdeqs162b8, results in the lower half of each of 8 blocks", kVectorArchs2>;
using VcbdS322s16 = Convert<"vcbd_s322s16", 0x2c5, CastForm<LaneType::s32, LaneType::s16, RoundMode::rint>,
                            "dst = src, s32 to s16; out of range: the nearest limit", archs(Arch::m200)>;

// The lines of kCasts as instructions.
template <usize Index>
struct CastAt {
  static constexpr CastPair pair = kCasts[Index / kRoundingSuffixes.size()];
  static constexpr auto rounding = static_cast<Rounding>(Index % kRoundingSuffixes.size());
  static constexpr bool exists = pair.archs[static_cast<usize>(rounding)] != 0;
  using Insns = std::conditional_t<exists, InsnList<Vconv<pair.from, pair.to, rounding>>, InsnList<>>;
};
template <template <usize> class At, class Indices = std::make_index_sequence<kCasts.size() * kRoundingSuffixes.size()>>
struct AllCasts;
template <template <usize> class At, usize... I>
struct AllCasts<At, std::index_sequence<I...>> {
  using Insns = JoinInsns<typename At<I>::Insns...>;
};

using VectorFusedInsns = InsnList<VaddreluconvF162s8, VaddreluconvS162s8, VaddreluconvF322f16, VaddreluconvVdeqs162b8,
                                  VsubreluconvF162s8, VsubreluconvS162s8, VsubreluconvF322f16, VsubreluconvVdeqs162b8,
                                  VmulconvF162s8, VmulconvF162u8, Vadddeqrelu>;
using VectorConvertInsns =
    JoinInsns<AllCasts<CastAt>::Insns, InsnList<VconvDeq, VconvDeqs162b8, VconvDeqs162b8h, VconvDeqs162b8l,
                                                VconvVdeqs162b8, VconvVdeqs162b8h, VconvVdeqs162b8l, VcbdS322s16>>;

}  // namespace vinci::isa::insn
