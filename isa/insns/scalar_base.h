// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <array>

#include "isa/table/insn.h"

// Families of scalar instructions: one template defines all that differ by a function only.
namespace vinci::isa::insn {

// A string as a template argument, so that one template defines a family of instructions.
template <usize N>
struct Text {
  char chars[N];
  constexpr Text(const char (&s)[N]) { std::copy_n(s, N, chars); }  // NOLINT(google-explicit-constructor)
  constexpr std::string_view view() const { return {chars, N - 1}; }
};

struct ScalarBase {
  static constexpr Role role = Role::scalar;
  static constexpr ArchSet archs = kAllArchs;
  static constexpr CostClass cost = "scalar.alu"_cost;
};

// Xd = f(a, b)
template <Text Name, u16 Opcode, u64 (*F)(u64, u64), Text Doc>
struct Alu : ScalarBase {
  struct Args {
    u64 a, b;
    u8 rd;
  };
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr std::tuple fields{Field<&Args::rd>{"rd", 5, OperandKind::reg_dst}, Field<&Args::a>{"a", 64},
                                     Field<&Args::b>{"b", 64}};
  static void execute(const Args& x, ScalarContext& c) { c.x[x.rd] = F(x.a, x.b); }
};

// Xd = f(a)
template <Text Name, u16 Opcode, u64 (*F)(u64), Text Doc>
struct Unary : ScalarBase {
  struct Args {
    u64 a;
    u8 rd;
  };
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr std::tuple fields{Field<&Args::rd>{"rd", 5, OperandKind::reg_dst}, Field<&Args::a>{"a", 64}};
  static void execute(const Args& x, ScalarContext& c) { c.x[x.rd] = F(x.a); }
};

// Integers of 64 bits, and f32 in the low half of a register; the high half of a result is zero. Without a suffix: s64.
template <ArchSet F32Archs>
inline constexpr std::array kS64OrF32{TypeForm{"s64"}, TypeForm{"f32", F32Archs}};

// The same with types: Xd = f(a, b), on s64 or on f32.
template <Text Name, u16 Opcode, u64 (*S64)(u64, u64), u32 (*F32)(u32, u32, u64&), ArchSet F32Archs, Text Doc>
struct TypedAlu : ScalarBase {
  struct Args {
    u64 a, b;
    u8 rd, type;
  };
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr std::array types = kS64OrF32<F32Archs>;
  static constexpr bool first_type_is_default = true;
  static constexpr std::tuple fields{Field<&Args::rd>{"rd", 5, OperandKind::reg_dst}, Field<&Args::a>{"a", 64},
                                     Field<&Args::b>{"b", 64}};
  static void execute(const Args& x, ScalarContext& c) {
    c.x[x.rd] = x.type == 0 ? S64(x.a, x.b) : F32(static_cast<u32>(x.a), static_cast<u32>(x.b), c.status_raised);
  }
};

// Xd = f(a), on s64 or on f32.
template <Text Name, u16 Opcode, u64 (*S64)(u64), u32 (*F32)(u32, u64&), ArchSet F32Archs, Text Doc>
struct TypedUnary : ScalarBase {
  struct Args {
    u64 a;
    u8 rd, type;
  };
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr std::array types = kS64OrF32<F32Archs>;
  static constexpr bool first_type_is_default = true;
  static constexpr std::tuple fields{Field<&Args::rd>{"rd", 5, OperandKind::reg_dst}, Field<&Args::a>{"a", 64}};
  static void execute(const Args& x, ScalarContext& c) {
    c.x[x.rd] = x.type == 0 ? S64(x.a) : F32(static_cast<u32>(x.a), c.status_raised);
  }
};

// Xd = a in another format. OverflowMode decides what an f16 that is too large becomes.
template <Text Name, u16 Opcode, u64 (*F)(u32, OverflowMode, u64&), Text Doc>
struct ScalarConvert : ScalarBase {
  struct Args {
    u64 a;
    u8 rd;
  };
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr std::tuple fields{Field<&Args::rd>{"rd", 5, OperandKind::reg_dst}, Field<&Args::a>{"a", 64}};
  static void execute(const Args& x, ScalarContext& c) {
    c.x[x.rd] = F(static_cast<u32>(x.a), c.overflow, c.status_raised);
  }
};

// if (f(a, b)) goto target
template <Text Name, u16 Opcode, bool (*F)(i64, i64), Text Doc>
struct Branch : ScalarBase {
  struct Args {
    u64 a, b;
    u32 target;
  };
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr std::tuple fields{Field<&Args::a>{"a", 64}, Field<&Args::b>{"b", 64},
                                     Field<&Args::target>{"target", 32, OperandKind::label}};
  static void execute(const Args& x, ScalarContext& c) {
    if (F(static_cast<i64>(x.a), static_cast<i64>(x.b))) c.next_pc = x.target;
  }
};

// Xd = a value of the core or the launch
template <Text Name, u16 Opcode, u64 (*F)(const ScalarContext&), ArchSet Archs, Text Doc>
struct Get : ScalarBase {
  struct Args {
    u8 rd;
  };
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = Archs;
  static constexpr std::tuple fields{Field<&Args::rd>{"rd", 5, OperandKind::reg_dst}};
  static void execute(const Args& x, ScalarContext& c) { c.x[x.rd] = F(c); }
};

}  // namespace vinci::isa::insn
