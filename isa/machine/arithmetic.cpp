// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/arithmetic.h"

#include <array>

#include "isa/insns/scalar.h"

namespace vinci::isa {
namespace {

using insn::Text;

template <class I>
struct Of {
  static constexpr Arithmetic kForm{};
};
template <Text kName, u16 kOpcode, u64 (*kF)(u64, u64), Text kDoc>
struct Of<insn::Alu<kName, kOpcode, kF, kDoc>> {
  static constexpr Arithmetic kForm{.value = kF};
};
template <Text kName, u16 kOpcode, u64 (*kF)(u64), Text kDoc>
struct Of<insn::Unary<kName, kOpcode, kF, kDoc>> {
  static constexpr Arithmetic kForm{.value = [](u64 a, u64) { return kF(a); }};
};
template <Text kName, u16 kOpcode, u64 (*kS64)(u64, u64), u32 (*kF32)(u32, u32, u64&), ArchSet kArchs, Text kDoc>
struct Of<insn::TypedAlu<kName, kOpcode, kS64, kF32, kArchs, kDoc>> {
  static constexpr Arithmetic kForm{.value = kS64};
};
template <Text kName, u16 kOpcode, u64 (*kS64)(u64), u32 (*kF32)(u32, u64&), ArchSet kArchs, Text kDoc>
struct Of<insn::TypedUnary<kName, kOpcode, kS64, kF32, kArchs, kDoc>> {
  static constexpr Arithmetic kForm{.value = [](u64 a, u64) { return kS64(a); }};
};
template <Text kName, u16 kOpcode, bool (*kF)(i64, i64), Text kDoc>
struct Of<insn::Branch<kName, kOpcode, kF, kDoc>> {
  static constexpr Arithmetic kForm{.goes = kF};
};
template <>
struct Of<insn::Jump> {
  static constexpr Arithmetic kForm{.goes = [](i64, i64) { return true; }};
};

constexpr usize kOpcodes = 0x100;  // those of scalar instructions are below

template <class... I>
constexpr std::array<Arithmetic, kOpcodes> forms_of(InsnList<I...>) {
  std::array<Arithmetic, kOpcodes> forms{};
  ((forms[I::opcode] = Of<I>::kForm), ...);
  return forms;
}
constexpr auto kForms = forms_of(insn::ScalarInsns());

}  // namespace

Arithmetic arithmetic_of(const Row& row, u8 type) {
  return row.opcode < kOpcodes && row.role == Role::scalar && type == 0 ? kForms[row.opcode] : Arithmetic{};
}

}  // namespace vinci::isa
