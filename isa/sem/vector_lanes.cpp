// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/sem/vector_lanes.h"

#include <optional>

#include "isa/insns/vector.h"

namespace vinci::isa::insn {
namespace {

LaneBits first_lanes(u32 count) {
  const auto word = [](u32 n) { return n >= 64 ? ~u64{0} : (u64{1} << n) - 1; };
  return {word(count), count > 64 ? word(count - 64) : 0};
}

bool counts(const Spr& spr) { return (spr.ctrl & ctrl::kCounterMode) != 0; }
u32 element_count(const Spr& spr) { return static_cast<u32>(spr.vector_mask[0]); }

void check_mask_mode(const Spr& spr, Arch arch) {
  if (counts(spr) && !contains(kVectorArchs2, arch)) {
    fail(Fault::Program, "CTRL bit 56 is set, but {} has no counter mode of the vector mask", name(arch));
  }
}

}  // namespace

bool Run::full(u32 lanes) const {
  // Asked at every repeat: word by word, because == of arrays is a call of memcmp.
  const LaneBits all = first_lanes(lanes);
  return mask[0] == all[0] && mask[1] == all[1];
}

void Selection::add(const Run& run) {
  if (run.count != 0 && (run.mask[0] | run.mask[1]) != 0) runs_[size_++] = run;
}

Selection::Selection(const Spr& spr, Arch arch, u32 lanes, u32 repeat) : lanes_(lanes) {
  check_mask_mode(spr, arch);
  if (counts(spr)) {
    const u32 whole = element_count(spr) / lanes;
    const u32 rest = element_count(spr) % lanes;
    add({0, whole, first_lanes(lanes)});
    add({whole, 1, first_lanes(rest)});
    return;
  }
  const LaneBits existing = first_lanes(lanes);
  add({0, repeat, {spr.vector_mask[0] & existing[0], spr.vector_mask[1] & existing[1]}});
}

Selection Selection::unmasked(const Spr& spr, Arch arch, u32 lanes, u32 repeat) {
  check_mask_mode(spr, arch);
  Selection all(lanes);
  all.add({0, static_cast<u32>(repeats_of(spr, lanes, repeat)), first_lanes(lanes)});
  return all;
}

Selection Selection::without_first() const {
  Selection rest(lanes_);
  for (u32 i = 1; i < size_; ++i)
    rest.add(runs_[i]);
  return rest;
}

u64 repeats_of(const Spr& spr, u32 lanes, u32 repeat) {
  return counts(spr) ? ceil_div<u64>(element_count(spr), lanes) : repeat;
}

Work vector_work(u32 repeat, u32 lanes, const Spr& spr) { return {.steps = repeats_of(spr, lanes, repeat)}; }

Operand::Operand(u32 base, u32 block_stride_blocks, u32 repeat_stride_blocks, LaneType t)
    : repeat_stride(repeat_stride_blocks * kBlockBytes),
      type(t),
      strided(true),
      block_stride(block_stride_blocks * kBlockBytes) {
  for (u32 i = 0; i < kRepeatBlocks; ++i)
    blocks[i] = base + i * block_stride;
}

Operand destination(u32 base, u32 block_stride_blocks, u32 repeat_stride_blocks, LaneType type, Arch arch) {
  return {base, arch == Arch::c100 && block_stride_blocks == 0 ? 1 : block_stride_blocks, repeat_stride_blocks, type};
}

BlockSpan::BlockSpan(const LaneBits& mask, LaneType type, u32 piece) {
  first = first_lane(mask) * lane_bits(type) / (piece * 8);
  count = last_lane(mask) * lane_bits(type) / (piece * 8) - first + 1;
}

OperandMask::OperandMask(const LaneBits& mask, u32 lanes, LaneType type, u32 piece) : span(mask, type, piece) {
  const u32 width = lane_bits(type);
  for (u32 i = 0; i < lanes; ++i) {
    if ((mask[i / 64] >> (i % 64) & 1) == 0) continue;
    const u32 byte = i * width / 8;
    if (width < 8) {
      bits.bytes[byte] |= static_cast<std::byte>(((1u << width) - 1) << (i * width % 8));
    } else {
      std::memset(bits.bytes.data() + byte, 0xff, width / 8);
    }
  }
}

void add_accesses(Footprint& to, const Selection& selection, const Operand& operand, bool write, std::string_view name,
                  bool accumulates) {
  VINCI_CHECK(operand.strided);
  Access last;
  for (const Run& run : selection) {
    const BlockSpan span(run.mask, operand.type);
    Access a{
        .buffer = BufId::UB,
        .write = write,
        .align = static_cast<u16>(kBlockBytes),
        .address = operand.blocks[0] + u64{span.first} * operand.block_stride + u64{run.first} * operand.repeat_stride,
        .len = kBlockBytes,
        .count = {operand.block_stride == 0 ? 1 : span.count, operand.repeat_stride == 0 ? 1 : run.count, 1},
        .stride = {operand.block_stride, operand.repeat_stride, 0},
        .operand = name,
        .repeats = {.first = run.first,
                    .count = run.count,
                    .blocks = span.count,
                    .block_stride = operand.block_stride,
                    .stride = operand.repeat_stride,
                    .accumulator = accumulates}};
    // Contiguous blocks are one piece, and contiguous repeats too: less for the checkers to walk over.
    if (operand.contiguous()) {
      a.len = kBlockBytes * a.count[0];
      a.count[0] = 1;
      if (operand.repeat_stride == a.len && u64{a.len} * a.count[1] <= ~u32{0}) {
        a.len *= a.count[1];
        a.count[1] = 1;
      }
    }
    if (!last.empty() && last.pieces() == 1 && a.pieces() == 1 && a.address == last.address + last.len) {
      last.len += a.len;
      last.repeats.count += a.repeats.count;
      continue;
    }
    if (!last.empty()) to.add(last);
    last = a;
  }
  if (!last.empty()) to.add(last);
}

namespace {

// Calls f(place in UB, offset in the lanes, bytes) for the blocks of one repeat. The size of a whole block is a
// constant for the copies.
template <class F>
void each_piece(const View& ub, const Operand& o, u32 repeat, BlockSpan span, F f) {
  const u64 offset = u64{repeat} * o.repeat_stride;
  const auto walk = [&](auto bytes) {
    for (u32 b = span.first; b < span.first + span.count; ++b)
      f(ub.bytes(o.blocks[b] + offset, bytes()).data(), usize{b} * bytes(), bytes);
  };
  if (o.piece == kBlockBytes) {
    walk(std::integral_constant<usize, kBlockBytes>{});
  } else {
    walk(std::integral_constant<usize, kBlockBytes / 2>{});
  }
}

// A copy whose usual size is a constant.
void copy_lanes(std::byte* to, const std::byte* from, usize count) {
  if (count == kRepeatBytes) {
    std::memcpy(to, from, kRepeatBytes);
  } else {
    std::memcpy(to, from, count);
  }
}

// to = mask ? from : to, over a multiple of 8 bytes
void blend_bytes(std::byte* to, const std::byte* from, const std::byte* mask, usize count) {
  for (usize i = 0; i < count; i += 8) {
    u64 t = 0, f = 0, m = 0;
    std::memcpy(&t, to + i, 8);
    std::memcpy(&f, from + i, 8);
    std::memcpy(&m, mask + i, 8);
    t ^= (t ^ f) & m;
    std::memcpy(to + i, &t, 8);
  }
}

}  // namespace

void load_lanes(const View& ub, const Operand& o, u32 repeat, BlockSpan span, LaneBuffer& lanes) {
  if (o.contiguous()) {
    const usize count = usize{span.count} * kBlockBytes;
    copy_lanes(lanes.bytes.data() + usize{span.first} * kBlockBytes,
               ub.bytes(o.blocks[span.first] + u64{repeat} * o.repeat_stride, count).data(), count);
    return;
  }
  each_piece(ub, o, repeat, span, [&](const std::byte* place, usize at, auto bytes) {
    std::memcpy(lanes.bytes.data() + at, place, bytes());
  });
}

void store_lanes(const View& ub, const Operand& o, u32 repeat, u32 blocks, const LaneBuffer& lanes) {
  if (o.contiguous()) {
    const usize count = usize{blocks} * kBlockBytes;
    copy_lanes(ub.bytes(o.blocks[0] + u64{repeat} * o.repeat_stride, count).data(), lanes.bytes.data(), count);
    return;
  }
  BlockSpan all;
  all.count = blocks;
  each_piece(ub, o, repeat, all,
             [&](std::byte* place, usize at, auto bytes) { std::memcpy(place, lanes.bytes.data() + at, bytes()); });
}

void store_lanes(const View& ub, const Operand& o, u32 repeat, const OperandMask& mask, const LaneBuffer& lanes) {
  each_piece(ub, o, repeat, mask.span, [&](std::byte* place, usize at, auto bytes) {
    blend_bytes(place, lanes.bytes.data() + at, mask.bits.bytes.data() + at, bytes());
  });
}

void blend(LaneBuffer& to, const LaneBuffer& from, const LaneBuffer& mask) {
  blend_bytes(to.bytes.data(), from.bytes.data(), mask.bytes.data(), kRepeatBytes);
}

LaneBuffer broadcast(u64 bits, LaneType type) {
  u32 width = lane_bits(type);
  u64 word = width == 64 ? bits : bits & ((u64{1} << width) - 1);
  for (; width < 64; width *= 2)
    word |= word << width;
  LaneBuffer lanes;
  for (usize i = 0; i < kRepeatBytes; i += sizeof word)
    std::memcpy(lanes.bytes.data() + i, &word, sizeof word);
  return lanes;
}

LaneBuffer quiet_lanes(LaneType type) {
  switch (type) {
    case LaneType::f16: return broadcast(kF16One, type);
    case LaneType::f32: return broadcast(kF32One, type);
    case LaneType::bf16: return broadcast(Bfloat16::kOne, type);
    default: return broadcast(0, type);
  }
}

u32 scalar_bits(u64 scalar, LaneType type) {
  const unsigned bits = lane_bits(type);
  const i64 as_signed = static_cast<i64>(scalar);
  if ((scalar >> bits) != 0 && !(is_signed_int(type) && as_signed < 0 && as_signed >= -(i64{1} << (bits - 1)))) {
    fail(Fault::Program, "scalar {:#x} does not fit a lane of type {} ({} bits)", scalar, name(type), bits);
  }
  return static_cast<u32>(scalar & ((u64{1} << bits) - 1));
}

void count_lanes(const ExecContext& c, const LaneCensus& census, LaneType src, LaneType dst,
                 std::span<const LaneBuffer> in, const LaneBuffer& ieee, u64 raised, u32 lanes, const LaneBits& active,
                 u32 repeat) {
  const usize sources = in.size() - (census.reads_dst ? 1 : 0);
  const bool saturates =
      is_float(dst) ? dst != LaneType::f32 && c.overflow == OverflowMode::saturation : lane_mode(c).saturate_int;
  const LaneBuffer* a = sources > 0 ? &in[0] : nullptr;
  const LaneBuffer* b = sources > 1 ? &in[1] : census.second;
  const LaneType second = sources > 1 ? src : census.second_type;
  const LaneBuffer* old = census.reads_dst ? &in.back() : nullptr;
  const LaneResults results{.rule = census.rule,
                            .src = src,
                            .dst = dst,
                            .a = a,
                            .b = b,
                            .second = second,
                            .old = old,
                            .ieee = &ieee,
                            .round = census.round,
                            .relu = census.before_relu != nullptr,
                            .saturates = saturates,
                            .wraps = census.wraps,
                            .raised = raised,
                            .lanes = lanes,
                            .active = active};
  if (!may_have_events(results)) return c.census->add_results(count_active(lanes, active));
  const LaneEvents events = events_of(results);
  std::array<NamedLanes, 3> operands;
  usize count = 0;
  if (a != nullptr) operands[count++] = {census.names[0], src, a};
  if (b != nullptr) operands[count++] = {census.names[1], second, b};
  if (old != nullptr) operands[count++] = {"dst", dst, old};
  report(*c.census, events, lanes, active, u64{repeat} * lanes, std::span(operands).first(count), {"", dst, &ieee});
}

namespace {

// Where the lanes of an operand are in the repeats of `run`, all selected; null where they are not contiguous, or not
// all in UB.
std::byte* place_of(const View& ub, const Operand& o, const Run& run, u32 lanes) {
  if (!o.contiguous()) return nullptr;
  const u64 bytes = u64{lanes} * lane_bits(o.type) / 8;
  const u64 first = o.blocks[0] + u64{run.first} * o.repeat_stride;
  const u64 end = first + u64{run.count - 1} * o.repeat_stride + bytes;
  return end <= ub.size() ? ub.bytes(first, bytes).data() : nullptr;
}

}  // namespace

namespace {

// Whether the results of a job leave its operands and each other as they are.
bool keeps_operands(const Repeats& job, usize operands, usize result_bytes) {
  if (job.count > 1 && job.out_stride < result_bytes) return false;  // repeats overwrite each other
  const std::byte* end = job.out + (job.count - 1) * job.out_stride + kRepeatBytes;
  const auto apart = [&](const Repeats::Source& s) {
    return s.first + (job.count - 1) * s.stride + kRepeatBytes <= job.out || end <= s.first;
  };
  return apart(job.a) && (operands < 2 || apart(job.b));
}

// Whether a source is where the results go, repeat by repeat.
bool is_updated(const Repeats& job, const Repeats::Source& s) {
  return s.first == job.out && s.stride == job.out_stride;
}

// Counts the repeats of a job that was computed.
void count_repeats(const ExecContext& c, const LaneCensus& census, RepeatsKernel kernel, const Repeats& job,
                   LaneType src, LaneType dst, usize sources, const Run& run, u32 lanes, u64 raised) {
  const LaneType widest = wider(src, dst);
  const auto bytes = [&](LaneType t) { return usize{kRepeatBytes} * lane_bits(t) / lane_bits(widest); };
  // Where results were replaced, the results before have to be computed again.
  const bool replaced = is_float(dst) && dst != LaneType::f32 && c.overflow == OverflowMode::saturation &&
                        (raised & (kVectorStatus.overflow | kVectorStatus.special)) != 0;
  std::optional<Screen> screen;
  if (is_float(dst) && !replaced) screen = screen_of(census.rule, dst, census.round, raised, job, bytes(dst));
  const u32 count = static_cast<u32>(job.count);
  u64 quiet = count;
  for (u32 r = 0; r < count; ++r) {
    if (!is_float(dst) && raised == 0) break;
    if (screen) r = next_with_events(*screen, r);
    if (r == count) break;
    std::array<LaneBuffer, 2> in{};
    LaneBuffer ieee{};
    std::memcpy(in[0].bytes.data(), job.a.at(r), bytes(src));
    if (sources == 2) std::memcpy(in[1].bytes.data(), job.b.at(r), bytes(src));
    std::memcpy(ieee.bytes.data(), job.out + r * job.out_stride, bytes(dst));
    if (replaced) {
      Repeats again = job;
      again.a.first = job.a.at(r);
      if (job.b.first != nullptr) again.b.first = job.b.at(r);
      again.out = ieee.bytes.data();
      again.count = 1;
      again.mode.overflow = OverflowMode::inf_nan;
      kernel(again);
    }
    count_lanes(c, census, src, dst, std::span(in).first(sources), ieee, raised, lanes, run.mask, run.first + r);
    --quiet;
  }
  c.census->add_results(quiet * lanes);
}

// A job that was computed as a shadow sees it.
ShadowRepeats shadow_repeats(const Repeats& job, const LaneOp& op, const Operand& dst, std::span<const Operand> src,
                             u32 first) {
  const auto place = [first](const Operand& o) {
    return ShadowRepeats::Place{o.blocks[0] + u64{first} * o.repeat_stride, o.repeat_stride};
  };
  ShadowRepeats out{
      .op = op, .type = dst.type, .values = job, .a = place(src.front()), .out = place(dst), .b = {}, .first = first};
  if (src.size() == 2) out.b = place(src.back());
  return out;
}

}  // namespace

Selection compute_in_place(ExecContext& c, const Selection& selection, RepeatsKernel kernel, const Operand& dst,
                           std::span<const Operand> src, const LaneCensus& census, const LaneBuffer* scalar) {
  const u32 lanes = selection.lanes();
  for (const ShadowPoint* point = c.shadow; point != nullptr; point = point->next) {
    // It looks at each repeat before the next.
    if (src.front().type != dst.type || !point->computes_repeats(census.op, dst.type)) return selection;
  }
  if (kernel == nullptr || selection.empty() || !selection.begin()->full(lanes)) return selection;
  const View& ub = c.mem[BufId::UB];
  const Run& run = *selection.begin();
  const auto source = [&](const Operand& o) { return Repeats::Source{place_of(ub, o, run, lanes), o.repeat_stride}; };
  const Repeats job{source(src.front()),
                    scalar != nullptr ? Repeats::Source{scalar->bytes.data(), 0} : source(src.back()),
                    place_of(ub, dst, run, lanes),
                    dst.repeat_stride,
                    run.count,
                    lane_mode(c)};
  if (job.a.first == nullptr || job.b.first == nullptr || job.out == nullptr) return selection;
  if (c.census == nullptr && c.shadow == nullptr) {
    c.status |= kernel(job);
    return selection.without_first();
  }
  const usize result_bytes = usize{lanes} * lane_bits(dst.type) / 8;
  if (census.reads_dst || census.before_relu != nullptr) return selection;
  const auto count = [&](const Repeats& some, u32 first) {
    const u64 raised = kernel(some);
    c.status |= raised;
    Run part = run;
    part.first += first;
    if (c.census != nullptr)
      count_repeats(c, census, kernel, some, src.front().type, dst.type, src.size(), part, lanes, raised);
    for (ShadowPoint* point = c.shadow; point != nullptr; point = point->next)
      point->compute(shadow_repeats(some, census.op, dst, src, part.first));
  };
  if (keeps_operands(job, src.size(), result_bytes)) {
    count(job, 0);
    return selection.without_first();
  }
  // Operands that results replace are kept for a while, some repeats at a time.
  const bool two = src.size() == 2;
  const bool update_a = is_updated(job, job.a), update_b = two && is_updated(job, job.b);
  Repeats apart = job;
  if (update_a) apart.a = {};
  if (update_b) apart.b = {};
  const auto is_apart = [&](const Repeats::Source& s) {
    const std::byte* end = job.out + (job.count - 1) * job.out_stride + kRepeatBytes;
    return s.first == nullptr || s.first + (job.count - 1) * s.stride + kRepeatBytes <= job.out || end <= s.first;
  };
  const bool same_width = lane_bits(src.front().type) == lane_bits(dst.type) && result_bytes == kRepeatBytes;
  if (!same_width || job.out_stride < kRepeatBytes || !is_apart(apart.a) || (two && !is_apart(apart.b)))
    return selection;
  constexpr u32 kAtOnce = 16;
  std::array<LaneBuffer, kAtOnce> kept;
  for (u32 first = 0; first < job.count; first += kAtOnce) {
    Repeats some = job;
    some.count = std::min<usize>(kAtOnce, job.count - first);
    some.out += first * job.out_stride;
    for (u32 r = 0; r < some.count; ++r)
      std::memcpy(kept[r].bytes.data(), some.out + r * job.out_stride, kRepeatBytes);
    const Repeats::Source of_kept{kept.front().bytes.data(), sizeof(LaneBuffer)};
    some.a = update_a ? of_kept : Repeats::Source{job.a.at(first), job.a.stride};
    if (two) some.b = update_b ? of_kept : Repeats::Source{job.b.at(first), job.b.stride};
    count(some, first);
  }
  return selection.without_first();
}

namespace {

// Calls f(address, bytes) for the pieces of UB that some blocks of one repeat are.
template <class F>
void each_extent(const Operand& o, u32 repeat, BlockSpan span, F f) {
  const u64 offset = u64{repeat} * o.repeat_stride;
  if (o.contiguous()) return f(o.blocks[span.first] + offset, u64{span.count} * kBlockBytes);
  for (u32 b = span.first; b < span.first + span.count; ++b)
    f(o.blocks[b] + offset, u64{o.piece});
}

}  // namespace

std::optional<PlanesFrom> find_planes(const ShadowPoint& shadow, const Operand& o, u32 repeat, BlockSpan span,
                                      PlaneLanes& room) {
  const LocalRefs& ub = shadow.core().buffers[index(BufId::UB)];
  if (ub.clean()) return std::nullopt;
  bool any = false;
  each_extent(o, repeat, span, [&](u64 at, u64 bytes) { any |= ub.type(at, bytes) != RefType::none; });
  if (!any) return std::nullopt;
  if (o.contiguous() && span.count == kRepeatBlocks)
    return read_only(ub.places(o.blocks[0] + u64{repeat} * o.repeat_stride, kRepeatBytes));
  for (u32 p = 0; p < kPlanes; ++p)
    load_lanes(ub.views[p], o, repeat, span, room[p]);
  return read_only(places_of(room));
}

void shadow_lanes(const ExecContext& c, const LaneCensus& census, const Operand& dst, std::span<const Operand> src,
                  std::span<const LaneBuffer> in, const LaneBuffer& out, u32 lanes, const Run& run, u32 repeat,
                  const OperandMask* mask) {
  std::array<PlaneLanes, 3> rooms;
  PlaneLanes results;
  const usize sources = in.size() - (census.reads_dst ? 1 : 0);
  const BlockSpan written = mask != nullptr ? mask->span : BlockSpan(run.mask, dst.type, dst.piece);
  const u32 blocks = dst.pieces_of(lanes);
  const bool in_place = mask == nullptr && dst.contiguous();
  for (ShadowPoint* point = c.shadow; point != nullptr; point = point->next) {
    std::array<std::optional<PlanesFrom>, 3> planes;
    const auto operand = [&](usize i) {
      planes[i] = find_planes(*point, src[i], repeat, BlockSpan(run.mask, src[i].type, src[i].piece), rooms[i]);
      return ShadowOperand{src[i].type, &in[i], planes[i] ? &*planes[i] : nullptr};
    };
    ShadowLanes job{.op = census.op,
                    .round = census.round,
                    .dst = dst.type,
                    .out = &out,
                    .lanes = lanes,
                    .active = run.mask,
                    .element = u64{repeat} * lanes};
    if (sources > 0) job.a = operand(0);
    if (sources > 1) {
      job.b = operand(1);
    } else if (census.second != nullptr) {
      job.b = {census.second_type, census.second, nullptr};
    }
    if (census.reads_dst) job.old = operand(in.size() - 1);
    LocalRefs& ub = point->core().buffers[index(BufId::UB)];
    const PlanesTo to = in_place ? ub.places(dst.blocks[0] + u64{repeat} * dst.repeat_stride, u64{blocks} * kBlockBytes)
                                 : places_of(results);
    if (!point->compute(job, to)) {
      if (mask == nullptr) {
        each_extent(dst, repeat, written, [&](u64 at, u64 bytes) { ub.clear(at, bytes); });
        continue;
      }
      bool stale = false;
      each_extent(dst, repeat, written, [&](u64 at, u64 bytes) { stale |= ub.type(at, bytes) != RefType::none; });
      if (!stale) continue;
      results = {};
    } else {
      each_extent(dst, repeat, written, [&](u64 at, u64 bytes) { ub.set_type(at, bytes, ref_type(dst.type)); });
      if (in_place) continue;
    }
    for (u32 p = 0; p < kPlanes; ++p) {
      if (mask != nullptr) {
        store_lanes(ub.views[p], dst, repeat, *mask, results[p]);
      } else {
        store_lanes(ub.views[p], dst, repeat, blocks, results[p]);
      }
    }
  }
}

LaneMode lane_mode(const ExecContext& c) {
  return {c.overflow, (c.spr.ctrl & ctrl::kSaturateInt) != 0, c.numerics.precision};
}

}  // namespace vinci::isa::insn
