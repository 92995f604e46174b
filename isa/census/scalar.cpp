// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/scalar.h"

#include "isa/numeric/convert.h"
#include "isa/numeric/lane_access.h"

namespace vinci::isa {
namespace {

struct Counted {
  std::string_view name;
  LaneRule rule;
  LaneType to = LaneType::f32;
  RoundMode round = RoundMode::rint;
};
constexpr std::array kArithmetic{Counted{"add", LaneRule::sum}, Counted{"sub", LaneRule::sub},
                                 Counted{"mul", LaneRule::product}, Counted{"div", LaneRule::quotient},
                                 Counted{"sqrt", LaneRule::function}};
constexpr std::array kConversions{Counted{"conv_f322f16", LaneRule::convert, LaneType::f16},
                                  Counted{"conv_f322f16o", LaneRule::convert, LaneType::f16, RoundMode::odd},
                                  Counted{"conv_f322s32r", LaneRule::convert, LaneType::s32, RoundMode::rint},
                                  Counted{"conv_f322s32a", LaneRule::convert, LaneType::s32, RoundMode::round},
                                  Counted{"conv_f322s32f", LaneRule::convert, LaneType::s32, RoundMode::floor},
                                  Counted{"conv_f322s32c", LaneRule::convert, LaneType::s32, RoundMode::ceil},
                                  Counted{"conv_f322s32z", LaneRule::convert, LaneType::s32, RoundMode::trunc}};

const Counted* counted(const CodeInst& inst) {
  const Row& row = *inst.row;
  const auto find = [&](const auto& table) -> const Counted* {
    for (const Counted& c : table) {
      if (c.name == row.name) return &c;
    }
    return nullptr;
  };
  if (row.types.empty()) return find(kConversions);
  return row.types[inst.type].name == "f32" ? find(kArithmetic) : nullptr;
}

// The value of an operand by its name; nothing where there is no such.
std::optional<u64> operand(const CodeInst& inst, const Sequencer& front, std::string_view name) {
  for (u8 p = 0; p < inst.patch_count; ++p) {
    if (inst.patches[p].field->name == name) return front.x(inst.patches[p].reg);
  }
  for (const FieldInfo& f : inst.row->fields) {
    if (f.name == name) return f.get(inst.args);
  }
  return {};
}

template <LaneType To>
LaneBuffer one(LaneValue<To> value) {
  LaneBuffer lanes{};
  set_typed_lane<To>(lanes, 0, value);
  return lanes;
}

}  // namespace

std::optional<ScalarCensus> ScalarCensus::of(Sequencer& front) {
  const CodeInst& inst = front.current();
  if (inst.row->role != Role::scalar || inst.written == CodeInst::kNoRegister) return {};
  const Counted* what = counted(inst);
  if (what == nullptr) return {};
  ScalarCensus out;
  out.rule_ = what->rule;
  out.to_ = what->to;
  out.round_ = what->round;
  out.saturates_ = what->to == LaneType::f16 && front.overflow() == OverflowMode::saturation;
  out.written_ = inst.written;
  out.a_ = static_cast<u32>(operand(inst, front, "a").value_or(0));
  const std::optional<u64> b = operand(inst, front, "b");
  if (b) out.b_ = static_cast<u32>(*b);
  out.operands_ = b ? 2 : 1;
  return out;
}

void ScalarCensus::count(const Sequencer& front, CensusPoint& point) const {
  const auto bits = static_cast<u32>(front.x(written_));
  LaneBuffer a = one<LaneType::f32>(a_), b = one<LaneType::f32>(b_), r{};
  switch (to_) {
    case LaneType::s32: r = one<LaneType::s32>(static_cast<i32>(bits)); break;
    case LaneType::f16: r = one<LaneType::f16>(f32_to_f16(a_, round_)); break;
    default: r = one<LaneType::f32>(bits);
  }
  const LaneBits first{1, 0};
  const LaneEvents events = events_of({.rule = rule_,
                                       .src = LaneType::f32,
                                       .dst = to_,
                                       .a = &a,
                                       .b = operands_ == 2 ? &b : nullptr,
                                       .second = LaneType::f32,
                                       .ieee = &r,
                                       .round = round_,
                                       .saturates = saturates_,
                                       .raised = ~u64{0},
                                       .lanes = 1,
                                       .active = first});
  const std::array operands{NamedLanes{"a", LaneType::f32, &a}, NamedLanes{"b", LaneType::f32, &b}};
  report(point, events, 1, first, 0, std::span(operands).first(operands_), {"", to_, &r});
}

}  // namespace vinci::isa
