// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <bit>

#include "isa/insns/scalar_base.h"
#include "isa/machine/issue.h"
#include "isa/numeric/scalar_f32.h"

// The scalar unit. The encoding of the vendor's scalar instructions is not public, their names and types are (msopprof,
// Mulan PSL v2: ADD.s64, ADD.f32, CMP.LT.f32, SQRT.f32, ...); the spelling here and registers X0..X31 of 64 bits are
// ours. get_*, set_*, ld_dev, st_dev, sbitset*, bcnt*, clz, sff*, sflbits, conv_* carry their public CCE names.
namespace vinci::isa::insn {

// What the first generation lacks. Source: platform_config of the CANN runtime.
inline constexpr ArchSet kSecondArchs = archs(Arch::m200, Arch::c220);

namespace alu {
inline i64 s(u64 v) { return static_cast<i64>(v); }
inline u64 mov(u64 a) { return a; }
inline u64 add(u64 a, u64 b) { return a + b; }
inline u64 sub(u64 a, u64 b) { return a - b; }
inline u64 mul(u64 a, u64 b) { return a * b; }
inline void check_divisor(u64 b) {
  if (b == 0) fail_issue(FaultId::division_by_zero, "division by zero");
}
inline u64 div(u64 a, u64 b) {
  check_divisor(b);
  return s(b) == -1 ? 0 - a : static_cast<u64>(s(a) / s(b));  // -1 apart: INT64_MIN / -1 traps on the host
}
inline u64 rem(u64 a, u64 b) {
  check_divisor(b);
  return s(b) == -1 ? 0 : static_cast<u64>(s(a) % s(b));
}
inline u64 min(u64 a, u64 b) { return s(a) < s(b) ? a : b; }
inline u64 max(u64 a, u64 b) { return s(a) > s(b) ? a : b; }
inline u64 and_(u64 a, u64 b) { return a & b; }
inline u64 or_(u64 a, u64 b) { return a | b; }
inline u64 xor_(u64 a, u64 b) { return a ^ b; }
inline u64 shl(u64 a, u64 b) { return b > 63 ? 0 : a << b; }
inline u64 shr(u64 a, u64 b) { return b > 63 ? 0 : a >> b; }
inline u64 sar(u64 a, u64 b) { return static_cast<u64>(s(a) >> std::min<u64>(b, 63)); }
inline u64 cmp_eq(u64 a, u64 b) { return a == b; }
inline u64 cmp_ne(u64 a, u64 b) { return a != b; }
inline u64 cmp_lt(u64 a, u64 b) { return s(a) < s(b); }
inline u64 cmp_le(u64 a, u64 b) { return s(a) <= s(b); }
inline u64 sbitset0(u64 x, u64 i) { return x & ~(u64{1} << (i & 63)); }
inline u64 sbitset1(u64 x, u64 i) { return x | (u64{1} << (i & 63)); }
inline u64 bcnt0(u64 a) { return static_cast<u64>(std::popcount(~a)); }
inline u64 bcnt1(u64 a) { return static_cast<u64>(std::popcount(a)); }
inline u64 clz(u64 a) { return static_cast<u64>(std::countl_zero(a)); }
inline u64 sff1(u64 a) { return a == 0 ? ~u64{0} : static_cast<u64>(std::countr_zero(a)); }
inline u64 sff0(u64 a) { return sff1(~a); }
inline u64 sflbits(u64 a) {
  const u64 changes = a ^ (s(a) < 0 ? ~u64{0} : 0);
  return changes == 0 ? ~u64{0} : clz(changes) - 1;
}
inline u64 neg(u64 a) { return 0 - a; }
inline u64 abs(u64 a) { return s(a) < 0 ? 0 - a : a; }
u64 sqrt(u64 a);  // isa/sem/scalar.cpp
template <RoundMode Mode>
u64 to_s32(u32 a, OverflowMode, u64& raised) {
  return scalar_f32::to_s32(a, Mode, raised);
}
template <RoundMode Mode>
u64 to_f16(u32 a, OverflowMode overflow, u64& raised) {
  return scalar_f32::to_f16(a, Mode, overflow, raised);
}
inline u64 s32_to_f32(u32 a, OverflowMode, u64&) { return scalar_f32::from_s32(a); }
inline u64 f16_to_f32(u32 a, OverflowMode, u64&) { return isa::f16_to_f32(static_cast<u16>(a)); }
inline bool eq(i64 a, i64 b) { return a == b; }
inline bool ne(i64 a, i64 b) { return a != b; }
inline bool lt(i64 a, i64 b) { return a < b; }
inline bool le(i64 a, i64 b) { return a <= b; }
inline bool gt(i64 a, i64 b) { return a > b; }
inline bool ge(i64 a, i64 b) { return a >= b; }
inline u64 block_idx(const ScalarContext& c) { return c.block_idx; }
inline u64 block_num(const ScalarContext& c) { return c.block_num; }
inline u64 coreid(const ScalarContext& c) { return c.core_id; }
inline u64 pc(const ScalarContext& c) { return c.pc; }
inline u64 ctrl(const ScalarContext& c) { return c.spr.ctrl; }
}  // namespace alu

using Mov = Unary<"mov", 0x001, alu::mov, "Xd = a">;
using Add = TypedAlu<"add", 0x002, alu::add, scalar_f32::add, kAllArchs, "Xd = a + b; s64 modulo 2^64">;
using Sub = TypedAlu<"sub", 0x003, alu::sub, scalar_f32::sub, kAllArchs, "Xd = a - b; s64 modulo 2^64">;
using Mul = TypedAlu<"mul", 0x004, alu::mul, scalar_f32::mul, kAllArchs, "Xd = a * b; s64 modulo 2^64">;
using Div =
    TypedAlu<"div", 0x005, alu::div, scalar_f32::div, kAllArchs, "Xd = a / b; s64 toward zero, and b = 0 is a fault">;
using Rem = Alu<"rem", 0x006, alu::rem, "Xd = a % b, sign of a; b = 0 is a fault">;
using Min = TypedAlu<"min", 0x007, alu::min, scalar_f32::min, kSecondArchs, "Xd = the smaller of a and b">;
using Max = TypedAlu<"max", 0x008, alu::max, scalar_f32::max, kSecondArchs, "Xd = the larger of a and b">;
using And = Alu<"and", 0x009, alu::and_, "Xd = a & b">;
using Or = Alu<"or", 0x00a, alu::or_, "Xd = a | b">;
using Xor = Alu<"xor", 0x00b, alu::xor_, "Xd = a ^ b">;
using Shl = Alu<"shl", 0x00c, alu::shl, "Xd = a << b; 0 for b > 63">;
using Shr = Alu<"shr", 0x00d, alu::shr, "Xd = a >> b, zero fill; 0 for b > 63">;
using Sar = Alu<"sar", 0x00e, alu::sar, "Xd = a >> b, sign fill">;
using CmpEq = TypedAlu<"cmp_eq", 0x00f, alu::cmp_eq, scalar_f32::eq, kAllArchs, "Xd = a == b, as 1 or 0">;
using CmpNe = TypedAlu<"cmp_ne", 0x010, alu::cmp_ne, scalar_f32::ne, kAllArchs, "Xd = a != b, as 1 or 0">;
using CmpLt = TypedAlu<"cmp_lt", 0x011, alu::cmp_lt, scalar_f32::lt, kAllArchs, "Xd = a < b, as 1 or 0">;
using CmpLe = TypedAlu<"cmp_le", 0x012, alu::cmp_le, scalar_f32::le, kAllArchs, "Xd = a <= b, as 1 or 0">;
using Sbitset0 = Alu<"sbitset0", 0x013, alu::sbitset0, "Xd = a with bit b cleared">;
using Sbitset1 = Alu<"sbitset1", 0x014, alu::sbitset1, "Xd = a with bit b set">;
using Bcnt0 = Unary<"bcnt0", 0x015, alu::bcnt0, "Xd = number of zero bits of a">;
using Bcnt1 = Unary<"bcnt1", 0x016, alu::bcnt1, "Xd = number of one bits of a">;
using Clz = Unary<"clz", 0x017, alu::clz, "Xd = number of leading zero bits of a">;
using Sff0 = Unary<"sff0", 0x018, alu::sff0, "Xd = position of the lowest 0 bit of a, -1 if there is none">;
using Sff1 = Unary<"sff1", 0x019, alu::sff1, "Xd = position of the lowest 1 bit of a, -1 if there is none">;
using Sflbits = Unary<"sflbits", 0x01a, alu::sflbits,
                      "Xd = number of bits below the sign bit that equal it without a gap; -1 for 0 and -1">;
using Neg = TypedUnary<"neg", 0x01b, alu::neg, scalar_f32::neg, kAllArchs, "Xd = -a">;
using Abs = TypedUnary<"abs", 0x01c, alu::abs, scalar_f32::abs, kSecondArchs, "Xd = |a|; s64 modulo 2^64">;
using Sqrt = TypedUnary<"sqrt", 0x01d, alu::sqrt, scalar_f32::sqrt, kAllArchs,
                        "Xd = root of a; s64 rounded down, and a < 0 is a fault">;

using Beq = Branch<"beq", 0x020, alu::eq, "if a == b go to target">;
using Bne = Branch<"bne", 0x021, alu::ne, "if a != b go to target">;
using Blt = Branch<"blt", 0x022, alu::lt, "if a < b go to target, signed">;
using Ble = Branch<"ble", 0x023, alu::le, "if a <= b go to target, signed">;
using Bgt = Branch<"bgt", 0x024, alu::gt, "if a > b go to target, signed">;
using Bge = Branch<"bge", 0x025, alu::ge, "if a >= b go to target, signed">;

// goto target
struct Jump : ScalarBase {
  struct Args {
    u32 target;
  };
  static constexpr std::string_view name = "b";
  static constexpr std::string_view doc = "go to target";
  static constexpr u16 opcode = 0x026;
  static constexpr std::tuple fields{Field<&Args::target>{"target", 32, OperandKind::label}};
  static void execute(const Args& x, ScalarContext& c) { c.next_pc = x.target; }
};

// End of the block: the core is done when all its pipes have drained.
struct End {
  struct Args {};
  static constexpr Role role = Role::end;
  static constexpr std::string_view name = "end";
  static constexpr std::string_view doc = "end of the block; it completes when all pipes have drained";
  static constexpr u16 opcode = 0x027;
  static constexpr ArchSet archs = kAllArchs;
  static constexpr CostClass cost = "scalar.alu"_cost;
  static constexpr std::tuple<> fields{};
};

using GetBlockIdx = Get<"get_block_idx", 0x030, alu::block_idx, kAllArchs, "Xd = index of this block">;
using GetBlockNum = Get<"get_block_num", 0x031, alu::block_num, kAllArchs, "Xd = number of blocks of the launch">;
using GetCoreid = Get<"get_coreid", 0x032, alu::coreid, kAllArchs, "Xd = index of the core that runs this block">;
using GetPc = Get<"get_pc", 0x033, alu::pc, kAllArchs, "Xd = index of this instruction">;
using GetCtrl = Get<"get_ctrl", 0x034, alu::ctrl, kAllArchs, "Xd = CTRL special register">;

// Xd = STATUS. What the pipes have reported by now; a run without data cannot know it.
struct GetStatus : ScalarBase {
  struct Args {
    u8 rd;
  };
  static constexpr std::string_view name = "get_status";
  static constexpr std::string_view doc = "Xd = STATUS, the sticky overflow bits; put pipe_barrier PIPE_ALL before it";
  static constexpr u16 opcode = 0x035;
  static constexpr bool reads_results = true;
  static constexpr std::tuple fields{Field<&Args::rd>{"rd", 5, OperandKind::reg_dst}};
  static void execute(const Args& x, ScalarContext& c) {
    c.x[x.rd] = c.status;
    c.loaded_unknown = c.mem == nullptr;
  }
};

// Xd = kernel argument `index`
struct LdArg : ScalarBase {
  struct Args {
    u64 index;
    u8 rd;
  };
  static constexpr std::string_view name = "ld_arg";
  static constexpr std::string_view doc = "Xd = kernel argument `index` (8 bytes each; a pointer is a device address)";
  static constexpr u16 opcode = 0x036;
  static constexpr CostClass cost = "scalar.load"_cost;
  static constexpr std::tuple fields{Field<&Args::rd>{"rd", 5, OperandKind::reg_dst}, Field<&Args::index>{"index", 16}};
  static void execute(const Args& x, ScalarContext& c) {
    if (x.index >= c.args.size()) {
      fail_issue(FaultId::missing_argument, "kernel argument {} does not exist; the launch passes {}", x.index,
                 c.args.size());
    }
    c.x[x.rd] = c.args[x.index];
  }
};

struct SetVectorMask : ScalarBase {
  struct Args {
    u64 mask1, mask0;
  };
  static constexpr std::string_view name = "set_vector_mask";
  static constexpr std::string_view doc = "lanes that vector instructions issued from now on write";
  static constexpr u16 opcode = 0x038;
  static constexpr bool sets_mask = true;
  static constexpr std::tuple fields{
      Field<&Args::mask1>{"mask1", 64, OperandKind::value, "lanes 127..64"},
      Field<&Args::mask0>{"mask0", 64, OperandKind::value, "lanes 63..0; all that 32-bit types use"}};
  static void execute(const Args& x, ScalarContext& c) { c.spr.vector_mask = {x.mask0, x.mask1}; }
};

struct SetCtrl : ScalarBase {
  struct Args {
    u64 value;
  };
  static constexpr std::string_view name = "set_ctrl";
  static constexpr std::string_view doc = "CTRL = value; bit 48 selects INF_NAN (1) or saturation (0) where both exist";
  static constexpr u16 opcode = 0x039;
  static constexpr std::tuple fields{Field<&Args::value>{"value", 64}};
  static void execute(const Args& x, ScalarContext& c) { c.spr.ctrl = x.value; }
};

// Scalar loads and stores; `type` is b8, b16, b32 or b64, loads extend with zero.
inline constexpr std::array kScalarWidths{TypeForm{"b8"}, TypeForm{"b16"}, TypeForm{"b32"}, TypeForm{"b64"}};
constexpr u32 scalar_bytes(u8 type) { return 1u << type; }
u64 scalar_load(BufId buffer, u64 address, u8 type, ScalarContext& c);               // isa/sem/scalar.cpp
void scalar_store(BufId buffer, u64 address, u8 type, u64 value, ScalarContext& c);  // isa/sem/scalar.cpp

template <Text Name, u16 Opcode, BufId Buffer, unsigned AddressBits, ArchSet Archs, Text Doc>
struct Load : ScalarBase {
  struct Args {
    u64 address, offset;
    u8 rd, type;
  };
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = Archs;
  static constexpr CostClass cost = "scalar.load"_cost;
  static constexpr std::array types = kScalarWidths;
  static constexpr std::tuple fields{Field<&Args::rd>{"rd", 5, OperandKind::reg_dst},
                                     Field<&Args::address>{"address", AddressBits},
                                     Field<&Args::offset>{"offset", 32, OperandKind::value, "bytes", true, 0}};
  static Footprint footprint(const Args& x, const Spr&, Arch) {
    return {{.buffer = Buffer,
             .align = static_cast<u16>(scalar_bytes(x.type)),
             .address = x.address + x.offset,
             .len = scalar_bytes(x.type),
             .operand = "address"}};
  }
  static void execute(const Args& x, ScalarContext& c) {
    c.x[x.rd] = scalar_load(Buffer, x.address + x.offset, x.type, c);
  }
};

template <Text Name, u16 Opcode, BufId Buffer, unsigned AddressBits, ArchSet Archs, Text Doc>
struct Store : ScalarBase {
  struct Args {
    u64 value, address, offset;
    u8 type;
  };
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = Archs;
  static constexpr CostClass cost = "scalar.store"_cost;
  static constexpr std::array types = kScalarWidths;
  static constexpr std::tuple fields{Field<&Args::value>{"value", 64}, Field<&Args::address>{"address", AddressBits},
                                     Field<&Args::offset>{"offset", 32, OperandKind::value, "bytes", true, 0}};
  static Footprint footprint(const Args& x, const Spr&, Arch) {
    return {{.buffer = Buffer,
             .write = true,
             .align = static_cast<u16>(scalar_bytes(x.type)),
             .address = x.address + x.offset,
             .len = scalar_bytes(x.type),
             .operand = "address"}};
  }
  static void execute(const Args& x, ScalarContext& c) {
    scalar_store(Buffer, x.address + x.offset, x.type, x.value, c);
  }
};

using LdDev = Load<"ld_dev", 0x040, BufId::GM, 48, kAllArchs, "Xd = global memory [address + offset], uncached">;
using StDev = Store<"st_dev", 0x041, BufId::GM, 48, kAllArchs, "global memory [address + offset] = value, uncached">;
using LdUbuf = Load<"ld_ubuf", 0x042, BufId::UB, 24, kAllArchs,
                    "Xd = UB [address + offset]; order it after other pipes with wait_flag on PIPE_S">;
using StUbuf = Store<"st_ubuf", 0x043, BufId::UB, 24, kAllArchs,
                     "UB [address + offset] = value; order other pipes after it with set_flag from PIPE_S">;

// What native code in place of a program has done to UB between two instructions, for those who ask who touched what.
struct TouchUbuf : ScalarBase {
  struct Args {
    u64 address;
    u32 bytes;
    u8 write;
  };
  static constexpr std::string_view name = "touch_ubuf";
  static constexpr std::string_view doc =
      "no effect, but the scalar unit counts as having loaded these bytes of UB, or stored them; recordings of native "
      "code have it in place of long runs of loads and stores";
  static constexpr u16 opcode = 0x044;
  static constexpr CostClass cost = "scalar.alu"_cost;
  static constexpr std::tuple fields{Field<&Args::address>{"address", 24}, Field<&Args::bytes>{"bytes", 24},
                                     Field<&Args::write>{"write", 1, OperandKind::value, "1: stored, 0: loaded"}};
  static Footprint footprint(const Args& x, const Spr&, Arch) {
    return {{.buffer = BufId::UB, .write = x.write != 0, .address = x.address, .len = x.bytes, .operand = "address"}};
  }
  static void execute(const Args&, ScalarContext&) {}
};

// Conversions of scalars; f32 and f16 are in the low bits of a register. Rounding: r to nearest even, a to nearest
// with ties away from zero, f down, c up, z toward zero, o to odd.
template <Text Name, u16 Opcode, RoundMode Mode>
using ConvF322S32 =
    ScalarConvert<Name, Opcode, alu::to_s32<Mode>, "Xd = f32 a as s32; stops at the limits of s32, NaN gives 0">;
using ConvF322S32R = ConvF322S32<"conv_f322s32r", 0x050, RoundMode::rint>;
using ConvF322S32A = ConvF322S32<"conv_f322s32a", 0x051, RoundMode::round>;
using ConvF322S32F = ConvF322S32<"conv_f322s32f", 0x052, RoundMode::floor>;
using ConvF322S32C = ConvF322S32<"conv_f322s32c", 0x053, RoundMode::ceil>;
using ConvF322S32Z = ConvF322S32<"conv_f322s32z", 0x054, RoundMode::trunc>;
using ConvS322F32 = ScalarConvert<"conv_s322f32", 0x055, alu::s32_to_f32, "Xd = s32 a as f32, to nearest even">;
using ConvF322F16 =
    ScalarConvert<"conv_f322f16", 0x056, alu::to_f16<RoundMode::rint>, "Xd = f32 a as f16, to nearest even">;
using ConvF162F32 = ScalarConvert<"conv_f162f32", 0x057, alu::f16_to_f32, "Xd = f16 a as f32, exact">;
using ConvF322F16O = ScalarConvert<"conv_f322f16o", 0x058, alu::to_f16<RoundMode::odd>, "Xd = f32 a as f16, to odd">;

using ScalarInsns =
    InsnList<Mov, Add, Sub, Mul, Div, Rem, Min, Max, And, Or, Xor, Shl, Shr, Sar, CmpEq, CmpNe, CmpLt, CmpLe, Sbitset0,
             Sbitset1, Bcnt0, Bcnt1, Clz, Sff0, Sff1, Sflbits, Neg, Abs, Sqrt, Beq, Bne, Blt, Ble, Bgt, Bge, Jump, End,
             GetBlockIdx, GetBlockNum, GetCoreid, GetPc, GetCtrl, GetStatus, LdArg, SetVectorMask, SetCtrl, LdDev,
             StDev, LdUbuf, StUbuf, TouchUbuf, ConvF322S32R, ConvF322S32A, ConvF322S32F, ConvF322S32C, ConvF322S32Z,
             ConvS322F32, ConvF322F16, ConvF162F32, ConvF322F16O>;

}  // namespace vinci::isa::insn
