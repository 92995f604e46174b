// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/l0c_ub.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "isa/census/cast.h"
#include "isa/sem/fractal_kernel.h"
#include "isa/sem/quant.h"
#include "isa/shadow/shadow.h"

// f32 becomes f16 to nearest even, with the saturation of the run; STATUS bits 8 and 9 record what that did.
namespace vinci::isa::insn {
namespace {

constexpr u64 kFractalColumns = 16;  // of a fractal
constexpr u64 kFractalElements = 256;
constexpr u8 kAnyType = 0xff;

// One value of CRMODE.
struct Conversion {
  std::string_view name;
  u8 l0c_type;             // that it takes
  u8 ub_bytes;             // of an element; 0: as L0C
  u8 parameter_bytes = 0;  // of one column, in UB; 0: there are none
};
constexpr std::array<Conversion, 14> kConversions{{{"none", kAnyType, 0},
                                                   {"f32 to f16", kL0cF32, 2},
                                                   {"f32 to f16 and relu", kL0cF32, 2},
                                                   {"s32 to f16", kL0cS32, 2},
                                                   {"f16 to f32", kL0cF16, 4},
                                                   {"relu", kAnyType, 0},
                                                   {"f16 times DEQSCALE", kL0cF16, 2},
                                                   {"vdeq", kL0cS32, 2, 2},
                                                   {"vdeq8", kL0cS32, 1, 8},
                                                   {"deq8", kL0cS32, 1},
                                                   {"vdeq16", kL0cS32, 2, 8},
                                                   {"deq16", kL0cS32, 2},
                                                   {"vdeqs16", kL0cS32, 2, 8},
                                                   {"deqs16", kL0cS32, 2}}};

// How the 16 bytes of a row of 8-bit results are arranged in UB. Source: sidStoreMode of DataCopyEnhancedParams; the
// order of "side by side" is a modelling choice.
enum class StoreMode : u8 { first_half, second_half, packed };

// The instruction, taken apart.
struct Plan {
  CrMode mode = CrMode::none;
  u64 elements = 0;   // of a piece
  u64 l0c_bytes = 0;  // of a piece
  u64 l0c_step = 0;   // from piece to piece
  u64 ub_bytes = 0, ub_step = 0;
  bool halves = false;      // only 16 bytes of each block of UB are written
  u64 ub_offset = 0;        // of the halves
  u64 parameters = 0;       // address in UB
  u64 parameter_bytes = 0;  // of a piece
};

constexpr std::string_view l0c_type_name(u8 type) { return CopyMatrixCcToUbuf::types[type].name; }

CrMode checked_mode(const L0cUbForm& form, const L0cUbArgs& x) {
  if (x.crmode >= kConversions.size()) {
    fail(Fault::Program, "operand crmode is {}; {} has 0 (none) to 13 (deqs16)", x.crmode, form.name);
  }
  const Conversion& mode = kConversions[x.crmode];
  if (form.to_ub) {
    if (mode.l0c_type != kAnyType && mode.l0c_type != x.type) {
      fail(Fault::Program, "operand crmode is {} ({}), which converts {}, but {} is .{}", x.crmode, mode.name,
           l0c_type_name(mode.l0c_type), form.name, l0c_type_name(x.type));
    }
  } else if (x.crmode != static_cast<u8>(CrMode::none)) {
    if (x.crmode != static_cast<u8>(CrMode::f16_to_f32) || x.type != kL0cF32) {
      fail(Fault::Program, "operand crmode is {} ({}); {}.{} takes 0 (none){}", x.crmode, mode.name, form.name,
           l0c_type_name(x.type), x.type == kL0cF32 ? " or 4 (f16 to f32)" : "");
    }
  }
  return static_cast<CrMode>(x.crmode);
}

StoreMode checked_store_mode(const L0cUbArgs& x) {
  if (x.sid > 2) {
    fail(Fault::Program, "operand sid is {}; of 8-bit results it is 0 (first half), 1 (second half) or 2 (packed)",
         x.sid);
  }
  return static_cast<StoreMode>(x.sid);
}

Plan plan(const L0cUbForm& form, const L0cUbArgs& x, const Spr& spr) {
  Plan p{.mode = checked_mode(form, x)};
  const Conversion& mode = kConversions[x.crmode];
  const u64 wide = l0c_bytes(x.type);
  u64 narrow = mode.ub_bytes != 0 ? mode.ub_bytes : wide;
  if (!form.to_ub && p.mode == CrMode::f16_to_f32) narrow = 2;
  p.elements = u64{x.lenBurst} * form.unit;
  p.l0c_bytes = p.elements * wide;
  p.ub_bytes = p.elements * narrow;
  if (p.mode == CrMode::deq8 || p.mode == CrMode::vdeq8) {
    const StoreMode store = checked_store_mode(x);
    p.halves = store != StoreMode::packed;
    if (p.halves) p.ub_bytes *= 2;
    if (store == StoreMode::second_half) p.ub_offset = kBlockBytes / 2;
    const QuantParameter q = quant_parameter(spr[SprId::deqscale]);
    if (p.mode == CrMode::deq8 && q.relu && q.offset != (q.is_signed ? -128 : 0)) {
      fail(Fault::Program, "the offset of DEQSCALE is {}; with relu it must be -128 for s8 and 0 for u8", q.offset);
    }
  }
  p.l0c_step = p.l0c_bytes + u64{form.to_ub ? x.srcStride : x.dstStride} * kFractalElements * wide;
  p.ub_step = p.ub_bytes + u64{form.to_ub ? x.dstStride : x.srcStride} * kBlockBytes;
  p.parameters = (spr[SprId::deqscale] & 0x7fff) * kBlockBytes;
  p.parameter_bytes = mode.parameter_bytes * kFractalColumns;
  return p;
}

void record(bool overflow, bool underflow, ExecContext& c) {
  if (overflow) c.status |= status::kL0cToUbOverflow;
  if (underflow) c.status |= status::kL0cToUbUnderflow;
}
void record(Narrowed n, ExecContext& c) { record(n.overflow, n.underflow, c); }

// into[i] = f(from[i], column of i)
template <class From, class To, class F>
void each(std::span<const std::byte> from, std::byte* into, F&& f) {
  for (usize i = 0; i < from.size() / sizeof(From); ++i) {
    From v;
    std::memcpy(&v, from.data() + i * sizeof v, sizeof v);
    const To r = f(v, i % kFractalColumns);
    std::memcpy(into + i * sizeof r, &r, sizeof r);
  }
}

template <class From, class F>
void each(std::span<const std::byte> from, F&& f) {
  for (usize i = 0; i < from.size() / sizeof(From); ++i) {
    From v;
    std::memcpy(&v, from.data() + i * sizeof v, sizeof v);
    f(v);
  }
}

// The factors of the 16 columns of one piece.
struct Columns {
  std::array<QuantParameter, kFractalColumns> parameters;  // relu is set in all or none
};

Columns columns_of(const Plan& p, u64 piece, ExecContext& c) {
  const u64 deqscale = c.spr[SprId::deqscale];
  Columns out;
  for (u64 i = 0; i < kFractalColumns; ++i) {
    QuantParameter& q = out.parameters[i];
    const u64 at = p.parameters + piece * p.parameter_bytes + i * kConversions[static_cast<u8>(p.mode)].parameter_bytes;
    switch (p.mode) {
      case CrMode::s32_to_f16:
      case CrMode::f16_mul: q = {.scale = f16_value(static_cast<u16>(deqscale))}; break;
      case CrMode::vdeq: q = {.scale = f16_value(c.mem[BufId::UB].load<u16>(at))}; break;
      case CrMode::vdeq8:
      case CrMode::vdeq16:
      case CrMode::vdeqs16: q = quant_parameter(c.mem[BufId::UB].load<u64>(at)); break;
      default: q = quant_parameter(deqscale);
    }
    if (p.parameter_bytes != 0) q.relu = (deqscale >> 15 & 1) != 0;
    if (p.mode == CrMode::s32_to_f16 || p.mode == CrMode::f16_mul) q.relu = false;
  }
  return out;
}

bool has_specials(u8 type, std::span<const std::byte> from) {
  bool out = false;
  if (type == kL0cF32) each<u32>(from, [&](u32 bits) { out |= !f32_finite(bits); });
  if (type == kL0cF16) each<u16>(from, [&](u16 bits) { out |= !f16_finite(bits); });
  return out;
}

float scaled(float v, const QuantParameter& q) {
  const float product = v * q.scale;
  return q.relu && product <= 0 ? 0 : product;
}

u16 to_f16(float value, const QuantParameter& q, CastCensus& census, ExecContext& c) {
  const float v = scaled(value, q);
  if (census) census.add(value, q.relu && v == 0 ? 0 : q.scale, v);
  const RoundedF16 r = round_f32_to_f16(std::bit_cast<u32>(v));
  const bool made = !std::isfinite(v) && std::isfinite(value);
  record(r.overflow || made, r.underflow, c);
  return saturate_f16(r.bits, c.overflow);
}

void relu(u8 type, std::span<const std::byte> from, std::byte* into) {
  if (type == kL0cS32) {
    each<i32, i32>(from, into, [](i32 v, usize) { return std::max(v, 0); });
  } else if (type == kL0cF32) {
    each<u32, u32>(from, into, [](u32 v, usize) { return f32_relu(v); });
  } else {
    each<u16, u16>(from, into, [](u16 v, usize) { return f16_relu(v); });
  }
}

// One piece from L0C; `into` has p.ub_bytes.
void convert(const Plan& p, u8 type, u64 piece, std::span<const std::byte> from, std::byte* into, CastCensus& census,
             ExecContext& c) {
  const bool saturate = c.overflow == OverflowMode::saturation;
  const Columns columns = columns_of(p, piece, c);
  const auto& q = columns.parameters;
  switch (p.mode) {
    case CrMode::none: std::memcpy(into, from.data(), from.size()); return;
    case CrMode::relu: relu(type, from, into); return;
    case CrMode::f32_to_f16:
    case CrMode::f32_to_f16_relu:
      census.add(from, p.mode == CrMode::f32_to_f16_relu);
      record(
          narrow_f32(from.data(), into, p.elements, {.saturate = saturate, .relu = p.mode == CrMode::f32_to_f16_relu}),
          c);
      return;
    case CrMode::f16_to_f32: each<u16, u32>(from, into, [](u16 v, usize) { return f16_to_f32(v); }); return;
    case CrMode::f16_mul:
      each<u16, u16>(from, into, [&](u16 v, usize i) { return to_f16(f16_value(v), q[i], census, c); });
      return;
    case CrMode::s32_to_f16:
    case CrMode::vdeq:
    case CrMode::vdeq16:
    case CrMode::deq16:
      each<i32, u16>(from, into, [&](i32 v, usize i) { return to_f16(dequant_input(v, q[i]), q[i], census, c); });
      return;
    case CrMode::vdeqs16:
    case CrMode::deqs16:
      each<i32, i16>(from, into, [&](i32 v, usize i) {
        const i32 shifted = shifted_s16(v, q[i].shift);
        const i32 result = q[i].relu ? std::max(shifted, 0) : shifted;
        census.add_integer(v, clips_s16(v, q[i].shift) && result == shifted, result);
        return static_cast<i16>(result);
      });
      return;
    case CrMode::vdeq8:
    case CrMode::deq8: {
      for (u64 row = 0; row < p.elements / kFractalColumns; ++row) {
        std::byte* at = into + (p.halves ? row * kBlockBytes + p.ub_offset : row * kFractalColumns);
        each<i32, u8>(from.subspan(row * kFractalColumns * 4, kFractalColumns * 4), at, [&](i32 v, usize i) {
          const float product = scaled(dequant_input(v, q[i]), q[i]);
          const IntRange range = range_b8(q[i].is_signed);
          const i32 result = quantise(product, q[i].offset, range);
          const bool shifted = q[i].shift_first && clips_s16(v, q[i].shift);
          if (census) census.add_integer(v, shifted || clips(product, q[i].offset, range), result);
          return static_cast<u8>(result);
        });
      }
      return;
    }
  }
}

// The references of a piece of floats. Integers are their own.
void shadow_piece(const L0cUbForm& form, const L0cUbArgs& x, const Plan& p, u64 l0c_at, u64 ub_at, const ExecContext& c,
                  ShadowPoint& point) {
  const u64 from = form.to_ub ? l0c_at : ub_at, to = form.to_ub ? ub_at : l0c_at;
  RefSpace &source = point.space(form.to_ub ? BufId::L0C : BufId::UB),
           &target = point.space(form.to_ub ? BufId::UB : BufId::L0C);
  const u64 target_bytes = form.to_ub ? p.ub_bytes : p.l0c_bytes;
  if (x.type == kL0cS32) return target.clear(to, target_bytes);
  LaneType read = x.type == kL0cF16 ? LaneType::f16 : LaneType::f32, written = read;
  if (!form.to_ub && p.mode == CrMode::f16_to_f32) read = LaneType::f16;
  if (form.to_ub && p.mode == CrMode::f16_to_f32) written = LaneType::f32;
  const bool narrows = p.mode == CrMode::f32_to_f16 || p.mode == CrMode::f32_to_f16_relu;
  const bool relus = p.mode == CrMode::f32_to_f16_relu || p.mode == CrMode::relu;
  if (narrows) written = LaneType::f16;
  const bool rounds = narrows || p.mode == CrMode::f16_mul;
  const double factor = p.mode == CrMode::f16_mul ? f16_value(static_cast<u16>(c.spr[SprId::deqscale])) : 1;
  const auto value = [](const View& memory, LaneType type, u64 at) -> double {
    return type == LaneType::f16 ? f16_value(memory.load<u16>(at)) : memory.load<float>(at);
  };
  const View &memory = c.mem[form.to_ub ? BufId::L0C : BufId::UB],
             &results = c.mem[form.to_ub ? BufId::UB : BufId::L0C];
  for (u64 first = 0; first < p.elements; first += kShadowLanes) {
    const u32 count = static_cast<u32>(std::min<u64>(kShadowLanes, p.elements - first));
    const u64 source_at = from + first * lane_bytes(read), target_at = to + first * lane_bytes(written);
    if (!rounds && !relus && source.type(source_at, count * lane_bytes(read)) == RefType::none) {
      target.clear(target_at, count * lane_bytes(written));
      continue;
    }
    std::array<double, kShadowLanes> own{}, reference{}, result{};
    const auto some = [count](auto& of) { return std::span(of).first(count); };
    for (u32 i = 0; i < count; ++i)
      own[i] = value(memory, read, source_at + i * lane_bytes(read));
    point.add_restarted(source.load(read, source_at, some(own), some(reference)));
    u64 decided = 0;
    for (u32 i = 0; i < count; ++i) {
      result[i] = value(results, written, target_at + i * lane_bytes(written));
      if (relus) {
        decided += (own[i] > 0 && reference[i] < 0) || (own[i] < 0 && reference[i] > 0) ? 1 : 0;
        if (own[i] < 0 || (own[i] == 0 && reference[i] < 0)) reference[i] = 0;
        if (own[i] < 0) own[i] = 0;
      }
      own[i] *= factor;
      reference[i] *= factor;
    }
    point.add_decided(decided);
    if (rounds || relus) point.count(written, some(result), some(own), some(reference), first);
    target.store(written, target_at, some(reference));
  }
}

}  // namespace

Footprint l0c_ub_footprint(const L0cUbForm& form, const L0cUbArgs& x, const Spr& spr) {
  const Plan p = plan(form, x, spr);
  const u32 row = static_cast<u32>(kFractalColumns) * l0c_bytes(x.type);
  const Access l0c{
      .buffer = BufId::L0C,
      .write = !form.to_ub,
      .align = static_cast<u16>(form.unit == kFractalElements ? kFractalElements * l0c_bytes(x.type) : row),
      .address = form.to_ub ? x.src : x.dst,
      .len = static_cast<u32>(p.l0c_bytes),
      .count = {x.nBurst, 1, 1},
      .stride = {static_cast<i64>(p.l0c_step), 0, 0},
      .operand = form.to_ub ? "src" : "dst"};
  // Of 8-bit results in halves of blocks, whole blocks: the other halves keep what they hold.
  const Access ub{.buffer = BufId::UB,
                  .write = form.to_ub,
                  .align = kBlockBytes,
                  .address = form.to_ub ? x.dst : x.src,
                  .len = static_cast<u32>(p.ub_bytes),
                  .count = {x.nBurst, 1, 1},
                  .stride = {static_cast<i64>(p.ub_step), 0, 0},
                  .operand = form.to_ub ? "dst" : "src"};
  Footprint f = form.to_ub ? Footprint{l0c, ub} : Footprint{ub, l0c};
  if (p.parameter_bytes != 0) {
    f.add({.buffer = BufId::UB,
           .address = p.parameters,
           .len = static_cast<u32>(p.parameter_bytes),
           .count = {x.nBurst, 1, 1},
           .stride = {static_cast<i64>(p.parameter_bytes), 0, 0},
           .operand = "deqscale"});
  }
  return f;
}

void l0c_ub_execute(const L0cUbForm& form, const L0cUbArgs& x, ExecContext& c) {
  const Plan p = plan(form, x, c.spr);
  CastCensus census(c.census, LaneType::f16, c.overflow == OverflowMode::saturation);
  for (u64 i = 0; i < x.nBurst; ++i) {
    const u64 l0c_at = (form.to_ub ? x.src : x.dst) + i * p.l0c_step;
    const u64 ub_at = (form.to_ub ? x.dst : x.src) + i * p.ub_step;
    const std::span<std::byte> l0c = c.mem[BufId::L0C].bytes(l0c_at, p.l0c_bytes);
    const std::span<std::byte> ub = c.mem[BufId::UB].bytes(ub_at, p.ub_bytes);
    if (form.to_ub) {
      if (c.numerics.moved_specials == MovedSpecials::raised && has_specials(x.type, l0c))
        c.status |= status::kMovedNanInf;
      convert(p, x.type, i, l0c, ub.data(), census, c);
    } else if (p.mode == CrMode::f16_to_f32) {
      each<u16, u32>(ub, l0c.data(), [](u16 v, usize) { return f16_to_f32(v); });
    } else {
      std::memcpy(l0c.data(), ub.data(), ub.size());
    }
    for (ShadowPoint* point = c.shadow; point != nullptr; point = point->next)
      shadow_piece(form, x, p, l0c_at, ub_at, c, *point);
  }
}

}  // namespace vinci::isa::insn
