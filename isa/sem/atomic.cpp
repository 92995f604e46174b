// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/sem/atomic.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "isa/base/enums.h"
#include "isa/census/lanes.h"
#include "isa/numeric/bfloat16.h"
#include "isa/numeric/float16.h"

namespace vinci::isa {
namespace {

constexpr auto kTypeNames = enum_names<AtomicType>;
constexpr auto kOpNames = enum_names<AtomicOp>;
constexpr auto kTypeBytes = enum_table<AtomicType, u16>({{AtomicType::none, 1},
                                                         {AtomicType::f32, 4},
                                                         {AtomicType::f16, 2},
                                                         {AtomicType::s16, 2},
                                                         {AtomicType::s32, 4},
                                                         {AtomicType::s8, 1},
                                                         {AtomicType::bf16, 2}});

// Types that an architecture adds; only c220 has max and min.
constexpr auto kTypeArchs = enum_table<AtomicType, ArchSet>({{AtomicType::none, kAllArchs},
                                                             {AtomicType::f32, kAllArchs},
                                                             {AtomicType::f16, archs(Arch::m200, Arch::c220)},
                                                             {AtomicType::s16, archs(Arch::m200, Arch::c220)},
                                                             {AtomicType::s32, archs(Arch::c220)},
                                                             {AtomicType::s8, archs(Arch::c220)},
                                                             {AtomicType::bf16, archs(Arch::c220)}});

AtomicType checked_type(const Spr& spr, Arch arch) {
  const auto type = static_cast<usize>(atomic_type(spr.ctrl));
  const auto op = static_cast<usize>(atomic_op(spr.ctrl));
  if (type == 0) return AtomicType::none;
  if (type >= kTypeNames.size() || op >= kOpNames.size()) {
    fail(Fault::Program, "CTRL has atomic type {} and operation {}; types are 1 (f32) to 6 (bf16), operations 0 to 2",
         type, op);
  }
  if (!contains(kTypeArchs[type], arch) || (op != 0 && arch != Arch::c220)) {
    fail(Fault::Program, "CTRL asks for atomic {}.{}, which {} does not have", kOpNames[op], kTypeNames[type],
         name(arch));
  }
  return static_cast<AtomicType>(type);
}

// A format as the host adds it: a sum in f32 of f16 or bf16 is rounded once more without harm, 24 >= 2 * 11 + 2.
struct AtomicF32 : Binary32 {
  static constexpr LaneType type = LaneType::f32;
  static constexpr bool kSaturates = false;
  static float value(u32 b) { return std::bit_cast<float>(b); }
  static u32 round(float v) { return std::bit_cast<u32>(v); }
};
struct AtomicF16 : Binary16 {
  static constexpr LaneType type = LaneType::f16;
  static constexpr bool kSaturates = true;
  static float value(u16 b) { return f16_value(b); }
  static u16 round(float v) { return f32_to_f16(std::bit_cast<u32>(v)); }
};
struct AtomicBf16 : Bfloat16 {
  static constexpr LaneType type = LaneType::bf16;
  static constexpr bool kSaturates = true;
  static float value(u16 b) { return bf16_value(b); }
  static u16 round(float v) { return f32_to_bf16(std::bit_cast<u32>(v)); }
};

struct Rules {
  AtomicOp op;
  bool saturate_float, saturate_int;
};

// One element that was combined.
template <class Bits>
struct Combined {
  Bits bits{};
  AtomicOverflow code = AtomicOverflow::none;
  Bits ieee{};  // before saturation
};

template <class F>
struct Floats {
  using Bits = typename F::Bits;

  static Combined<Bits> combine(Bits dst, Bits src, const Rules& rules) {
    Combined<Bits> r{.ieee = F::kNan};
    if (F::nan(dst) || F::nan(src)) {
      r.code = !F::nan(src)  ? AtomicOverflow::dst_nan
               : F::nan(dst) ? AtomicOverflow::both_nan
                             : AtomicOverflow::src_nan;
    } else if (rules.op != AtomicOp::add) {
      r.ieee = rules.op == AtomicOp::max ? max_of<F>(dst, src) : min_of<F>(dst, src);
    } else if (const float sum = F::value(dst) + F::value(src); sum == sum) {
      r.ieee = F::round(sum);
      if (F::finite(dst) && F::finite(src) && !F::finite(r.ieee))
        r.code = sum > 0 ? AtomicOverflow::above : AtomicOverflow::below;
    }
    r.bits = r.ieee;
    if (saturates(rules) && !F::finite(r.bits)) r.bits = F::nan(r.bits) ? Bits{0} : static_cast<Bits>(r.bits - 1);
    return r;
  }
  static NumericEvents events(Bits dst, Bits src, const Combined<Bits>& r, const Rules& rules) {
    if (rules.op != AtomicOp::add) return moved_events(value(r.ieee), F::type, saturates(rules));
    return sum_events(value(dst), value(src), value(r.ieee), F::type, saturates(rules));
  }
  static double value(Bits bits) { return F::value(bits); }
  static bool saturates(const Rules& rules) { return F::kSaturates && rules.saturate_float; }
};

template <class T>
struct Integers {
  using Bits = T;

  static Combined<T> combine(T dst, T src, const Rules& rules) {
    if (rules.op == AtomicOp::max) return {.bits = std::max(dst, src)};
    if (rules.op == AtomicOp::min) return {.bits = std::min(dst, src)};
    constexpr i64 kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
    const i64 sum = i64{dst} + src;
    if (sum >= kLow && sum <= kHigh) return {.bits = static_cast<T>(sum)};
    return {.bits = static_cast<T>(rules.saturate_int ? std::clamp(sum, kLow, kHigh) : sum),
            .code = sum > 0 ? AtomicOverflow::above : AtomicOverflow::below};
  }
  static NumericEvents events(T, T, const Combined<T>& r, const Rules& rules) {
    if (r.code == AtomicOverflow::none) return 0;
    return bit(rules.saturate_int ? NumericEvent::saturated : NumericEvent::wrapped);
  }
  static double value(T v) { return static_cast<double>(v); }
};

// dst = dst op src, element by element; the first one has the number `element` in the instruction.
template <class Elements>
void each(std::span<std::byte> dst, std::span<const std::byte> src, u64 element, const Rules& rules, ExecContext& c) {
  using Bits = typename Elements::Bits;
  const auto value = &Elements::value;
  for (usize i = 0; i < dst.size(); i += sizeof(Bits), ++element) {
    Bits d, s;
    std::memcpy(&d, dst.data() + i, sizeof d);
    std::memcpy(&s, src.data() + i, sizeof s);
    const Combined<Bits> r = Elements::combine(d, s, rules);
    if (c.results.l2_atomic == 0) c.results.l2_atomic = static_cast<u64>(r.code);
    if (c.census != nullptr) {
      if (const NumericEvents events = Elements::events(d, s, r, rules); events != 0) {
        c.census->add(events, element, std::array{NumericOperand{"dst", value(d)}, NumericOperand{"src", value(s)}},
                      value(r.bits));
      }
    }
    std::memcpy(dst.data() + i, &r.bits, sizeof r.bits);
  }
  if (c.census != nullptr) c.census->add_results(dst.size() / sizeof(Bits));
}

void combine(AtomicType type, std::span<std::byte> dst, std::span<const std::byte> src, u64 element, const Rules& rules,
             ExecContext& c) {
  switch (type) {
    case AtomicType::none: return;
    case AtomicType::f32: return each<Floats<AtomicF32>>(dst, src, element, rules, c);
    case AtomicType::f16: return each<Floats<AtomicF16>>(dst, src, element, rules, c);
    case AtomicType::bf16: return each<Floats<AtomicBf16>>(dst, src, element, rules, c);
    case AtomicType::s16: return each<Integers<i16>>(dst, src, element, rules, c);
    case AtomicType::s32: return each<Integers<i32>>(dst, src, element, rules, c);
    case AtomicType::s8: return each<Integers<i8>>(dst, src, element, rules, c);
  }
}

}  // namespace

Access gm_write_access(Access plain, const Spr& spr, Arch arch) {
  const AtomicType type = checked_type(spr, arch);
  if (type == AtomicType::none) return plain;
  const u16 bytes = kTypeBytes[static_cast<usize>(type)];
  const auto whole = [&](i64 n) { return n % bytes == 0; };
  if (!plain.empty() &&
      !(whole(plain.len) && (plain.count[0] < 2 || whole(plain.stride[0])) &&
        (plain.count[1] < 2 || whole(plain.stride[1])) && (plain.count[2] < 2 || whole(plain.stride[2])))) {
    fail(Fault::Program,
         "unaligned access: an atomic {} write takes pieces and distances that are multiples of {} bytes",
         kTypeNames[static_cast<usize>(type)], bytes);
  }
  plain.atomic = true;
  plain.align = std::max(plain.align, bytes);
  return plain;
}

void write_gm(u64 address, std::span<const std::byte> from, ExecContext& c, u64 written) {
  const AtomicType type = checked_type(c.spr, c.arch);
  if (type == AtomicType::none) {
    c.mem.gm().write(address, from);
    return;
  }
  const Rules rules{.op = atomic_op(c.spr.ctrl),
                    .saturate_float = c.overflow == OverflowMode::saturation,
                    .saturate_int = (c.spr.ctrl & ctrl::kSaturateInt) != 0};
  std::array<std::byte, 4096> part;  // a multiple of every element
  while (!from.empty()) {
    const auto now = std::span(part).first(std::min(from.size(), part.size()));
    c.mem.gm().read(address, now);
    combine(type, now, from.first(now.size()), written / kTypeBytes[static_cast<usize>(type)], rules, c);
    c.mem.gm().write(address, now);
    address += now.size();
    written += now.size();
    from = from.subspan(now.size());
  }
}

}  // namespace vinci::isa
