// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/insns/vector_reduce.h"

#include <cmath>

#include "isa/sem/vector_lanes.h"
#include "isa/shadow/kernels.h"

namespace vinci::isa::insn {
namespace {

constexpr u32 kMaxLanes = lanes_per_repeat(LaneType::f16);

struct ReduceF16 {
  static constexpr LaneType type = LaneType::f16;
  static double value(u32 x) { return f16_value(static_cast<u16>(x)); }
  static bool finite(u32 x) { return f16_finite(static_cast<u16>(x)); }
  static u32 canonical(u32 x) { return f16_nan(static_cast<u16>(x)) ? kF16Nan : x; }
  static u32 finish(u32 x, OverflowMode m) { return saturate_f16(static_cast<u16>(x), m); }
  static u32 add(u32 a, u32 b) { return f16_add(static_cast<u16>(a), static_cast<u16>(b)); }
  static u32 max(u32 a, u32 b) { return f16_max(static_cast<u16>(a), static_cast<u16>(b)); }
  static u32 min(u32 a, u32 b) { return f16_min(static_cast<u16>(a), static_cast<u16>(b)); }
};
struct ReduceF32 {
  static constexpr LaneType type = LaneType::f32;
  static double value(u32 x) { return std::bit_cast<float>(x); }
  static bool finite(u32 x) { return f32_finite(x); }
  static u32 canonical(u32 x) { return f32_nan(x) ? kF32Nan : x; }
  static u32 finish(u32 x, OverflowMode) { return x; }
  static u32 add(u32 a, u32 b) {
    return std::bit_cast<u32>(canonical_f32(std::bit_cast<float>(a) + std::bit_cast<float>(b)));
  }
  static u32 max(u32 a, u32 b) { return f32_max(a, b); }
  static u32 min(u32 a, u32 b) { return f32_min(a, b); }
};

// The lanes that take part in a reduction, as bits.
struct Taken {
  std::array<u32, kMaxLanes> bits{};
  std::array<bool, kMaxLanes> active{};
};

// Reduces lanes of one format; gathers STATUS on the way.
template <class Format>
class Reducer {
 public:
  Reducer(ReduceOp op, const ExecContext& c) : op_(op), overflow_(c.overflow), census_(c.census) {}

  u64 raised() const { return raised_; }

  u32 apply(u32 a, u32 b) {
    const u32 r = op_ == ReduceOp::add   ? Format::add(a, b)
                  : op_ == ReduceOp::max ? Format::max(a, b)
                                         : Format::min(a, b);
    if (op_ != ReduceOp::add) return r;  // saturated at the end: NaN wins until then
    if (census_ != nullptr) [[unlikely]]
      count_sum(a, b, r);
    if (!Format::finite(r) && Format::finite(a) && Format::finite(b)) raised_ |= status::kFloatOverflow;
    return finish(r);
  }

  Taken take(const LaneBuffer& lanes, u32 count, u32 lane_bytes, const LaneBits& mask) {
    Taken t;
    for (u32 i = 0; i < count; ++i) {
      t.active[i] = (mask[i / 64] >> (i % 64) & 1) != 0;
      if (!t.active[i]) continue;
      std::memcpy(&t.bits[i], lanes.bytes.data() + usize{i} * lane_bytes, lane_bytes);
      if (!Format::finite(t.bits[i])) raised_ |= status::kVectorNanInf;
      t.bits[i] = Format::canonical(t.bits[i]);  // a lane alone is the result as it is
    }
    return t;
  }

  // A tree of adjacent pairs over each group of lanes, in place: the result of group g is lane g * group. Extrema give
  // the same in any order.
  void reduce_groups(Taken& t, u32 lanes, u32 group) {
    for (u32 step = 1; step < group; step *= 2) {
      for (u32 i = 0; i + step < lanes; i += 2 * step) {
        if (!t.active[i + step]) continue;
        t.bits[i] = t.active[i] ? apply(t.bits[i], t.bits[i + step]) : t.bits[i + step];
        t.active[i] = true;
      }
    }
    for (u32 i = 0; i < lanes; i += group)
      t.bits[i] = t.active[i] ? result(t.bits[i]) : finish(t.bits[i]);
  }

  // A result that is stored. That of an extremum is counted here; the sums of a tree are all counted where they are
  // made.
  u32 result(u32 bits) {
    if (census_ != nullptr && op_ != ReduceOp::add) [[unlikely]]
      count_extremum(bits);
    return finish(bits);
  }
  u32 finish(u32 bits) const { return Format::finish(bits, overflow_); }

 private:
  bool saturates() const { return Format::type != LaneType::f32 && overflow_ == OverflowMode::saturation; }

  // Every node of a tree is a result of its own, numbered in the order of computation.
  void count_sum(u32 a, u32 b, u32 sum) {
    const double x = Format::value(a), y = Format::value(b), r = Format::value(sum);
    add(sum_events(x, y, r, Format::type, saturates()),
        std::array{NumericOperand{"left", x}, NumericOperand{"right", y}}, r);
  }
  void count_extremum(u32 bits) {
    const double r = Format::value(bits);
    add(moved_events(r, Format::type, saturates()), std::array{NumericOperand{"src", r}}, r);
  }
  void add(NumericEvents events, std::span<const NumericOperand> operands, double r) {
    if (events != 0) census_->add(events, element_, operands, r);
    census_->add_results(1);
    ++element_;
  }

  ReduceOp op_;
  OverflowMode overflow_;
  CensusPoint* census_;
  u64 element_ = 0;
  u64 raised_ = 0;
};

// Calls body(Format{}) with the format of a lane type.
template <class Body>
void with_format(LaneType type, Body body) {
  if (type == LaneType::f16) {
    body(ReduceF16{});
  } else {
    body(ReduceF32{});
  }
}

// Reductions of one repeat as the shadows see them: of each group of lanes, results of a type at some address; an
// address of kNoAddress has no result.
struct ShadowedGroups {
  static constexpr u64 kNoAddress = ~u64{0};
  ReduceOp op;
  LaneType type;
  const Operand& src;
  u32 lanes, group;
};
// address(g), value(g): of the result of a group.
template <class Address, class Value>
void shadow_groups(const ExecContext& c, const ShadowedGroups& s, const Run& run, u32 repeat, const LaneBuffer& in,
                   Address address, Value value) {
  namespace kernels = shadow_kernels;
  DoubleLanes own, references, tree;
  kernels::lane_doubles(s.type, in, s.lanes, own);
  const auto active = [&](u32 i) { return (run.mask[i / 64] >> (i % 64) & 1) != 0; };
  for (ShadowPoint* point = c.shadow; point != nullptr; point = point->next) {
    PlaneLanes room;
    const auto planes = find_planes(*point, s.src, repeat, BlockSpan(run.mask, s.type), room);
    const bool has = planes.has_value();
    u64 ended = 0;
    if (has) ended = kernels::decode(lane_bytes(s.type), *planes, own.v.data(), references.v.data(), s.lanes);
    const DoubleLanes& r = has ? references : own;
    DoubleLanes values, exact, results;
    std::array<u64, kShadowLanes> places{};
    u32 count = 0;
    for (u32 first = 0; first < s.lanes; first += s.group) {
      const u64 place = address(first / s.group);
      double sum = 0, best = 0;
      u32 at = s.lanes;  // of the best
      tree = r;
      std::array<bool, kShadowLanes> taken{};
      for (u32 i = first; i < first + s.group; ++i) {
        taken[i] = active(i);
        if (!taken[i]) continue;
        sum += own.v[i];
        const bool better = s.op == ReduceOp::max ? own.v[i] > best : own.v[i] < best;
        if (at == s.lanes || better) best = own.v[at = i];
      }
      if (at == s.lanes || place == ShadowedGroups::kNoAddress) continue;
      values.v[count] = value(first / s.group);
      if (s.op == ReduceOp::add && point->order() != SumOrder::own) {
        std::array<double, kShadowLanes> addends{};
        usize taken_lanes = 0;
        for (u32 i = first; i < first + s.group; ++i)
          if (taken[i]) addends[taken_lanes++] = r.v[i];
        exact.v[count] = sum;
        results.v[count] = ordered_sum(std::span(addends).first(taken_lanes), point->order(), [&](double partial) {
          point->round(s.type, std::span(&partial, 1));
          return partial;
        });
      } else if (s.op == ReduceOp::add) {
        for (u32 step = 1; step < s.group; step *= 2) {
          for (u32 i = first; i + step < first + s.group; i += 2 * step) {
            if (!taken[i + step]) continue;
            tree.v[i] = taken[i] ? tree.v[i] + tree.v[i + step] : tree.v[i + step];
            taken[i] = true;
            if (point->rounds()) point->round(s.type, std::span(tree.v).subspan(i, 1));
          }
        }
        exact.v[count] = sum;
        results.v[count] = tree.v[first];
      } else {
        bool otherwise = false;
        for (u32 i = first; has && i < first + s.group; ++i) {
          if (!active(i) || own.v[i] == best) continue;
          otherwise |= s.op == ReduceOp::max ? r.v[i] > r.v[at] : r.v[i] < r.v[at];
        }
        point->add_decided(otherwise ? 1 : 0);
        exact.v[count] = best;
        results.v[count] = r.v[at];
      }
      places[count++] = place;
    }
    if (count == 0) continue;
    point->add_restarted(std::min<u64>(ended, count));
    const auto first = [count](DoubleLanes& of) { return std::span(of.v).first(count); };
    point->count(s.type, first(values), first(exact), first(results), u64{repeat} * (s.lanes / s.group));
    for (u32 i = 0; i < count; ++i)
      point->space(BufId::UB).store(s.type, places[i], std::span(results.v).subspan(i, 1));
  }
}

// The references of an index end.
void clear_index(const ExecContext& c, u64 address, u64 bytes) {
  for (ShadowPoint* point = c.shadow; point != nullptr; point = point->next)
    point->space(BufId::UB).clear(address, bytes);
}

Selection selection_of(const VectorReduceArgs& x, LaneType type, const Spr& spr, Arch arch) {
  return {spr, arch, lanes_per_repeat(type), x.repeat};
}
Operand source_of(const VectorReduceArgs& x, LaneType type) { return {x.src, x.srcBlkStride, x.srcRepStride, type}; }

void store_result(const View& ub, u64 address, u32 value, u32 bytes) {
  std::memcpy(ub.bytes(address, bytes).data(), &value, bytes);
}

// The first `len` bytes of the results of each repeat of a run, which are units of `unit` bytes apart.
Access results_access(const VectorReduceArgs& x, const Run& run, u32 unit, u32 len) {
  const u64 stride = u64{x.dstRepStride} * unit;
  Access a{.buffer = BufId::UB,
           .write = true,
           .align = static_cast<u16>(std::min(unit, kBlockBytes)),
           .address = x.dst + run.first * stride,
           .len = len,
           .count = {stride == 0 ? 1 : run.count, 1, 1},
           .stride = {static_cast<i64>(stride), 0, 0},
           .operand = "dst"};
  if (stride == len) {
    a.len *= a.count[0];
    a.count[0] = 1;
  }
  return a;
}

// Result of vcmax and vcmin: a pair of lanes, a lane, or an index of 32 bits.
u32 extremum_bytes(ReduceOrder order, LaneType type) {
  switch (order) {
    case ReduceOrder::only_value: return lane_bytes(type);
    case ReduceOrder::only_index: return sizeof(u32);
    default: return 2 * lane_bytes(type);
  }
}

}  // namespace

Footprint sum_footprint(const VectorReduceArgs& x, LaneType type, const Spr& spr, Arch arch) {
  if (x.option != 0 && arch != Arch::c220) {
    fail(Fault::Program, "mode = {} is out of range on {}: 0", x.option, name(arch));
  }
  const Selection selection = selection_of(x, type, spr, arch);
  Footprint f;
  add_accesses(f, selection, source_of(x, type), false, "src");
  if (x.option != 0) return f;
  for (const Run& run : selection)
    f.add(results_access(x, run, lane_bytes(type), lane_bytes(type)));
  return f;
}

void sum_execute(const VectorReduceArgs& x, LaneType type, ExecContext& c) {
  with_format(type, [&]<class Format>(Format) {
    Reducer<Format> reducer(ReduceOp::add, c);
    const u32 lanes = lanes_per_repeat(type);
    const u32 bytes = lane_bytes(type);
    if (x.option != 0) c.results.acc_val = 0;
    for_each_source<1>(c, selection_of(x, type, c.spr, c.arch), {source_of(x, type)},
                       [&](const Run& run, u32 r, const auto& in) {
                         Taken t = reducer.take(in[0], lanes, bytes, run.mask);
                         reducer.reduce_groups(t, lanes, lanes);
                         if (c.shadow != nullptr && x.option == 0) {
                           const Operand src = source_of(x, type);
                           shadow_groups(
                               c, {ReduceOp::add, type, src, lanes, lanes}, run, r, in[0],
                               [&](u32) { return x.dst + u64{r} * x.dstRepStride * bytes; },
                               [&](u32) { return Format::value(t.bits[0]); });
                         }
                         if (x.option != 0) {
                           c.results.acc_val = reducer.apply(static_cast<u32>(c.results.acc_val), t.bits[0]);
                         } else {
                           store_result(c.mem[BufId::UB], x.dst + u64{r} * x.dstRepStride * bytes, t.bits[0], bytes);
                         }
                       });
    c.status |= reducer.raised();
  });
}

Footprint extremum_footprint(const VectorReduceArgs& x, LaneType type, const Spr& spr, Arch arch) {
  if (x.option != 0 && !contains(kVectorArchs2, arch)) {
    fail(Fault::Program, "order = {} is out of range on {}: 0", x.option, name(arch));
  }
  const Selection selection = selection_of(x, type, spr, arch);
  const u32 bytes = extremum_bytes(static_cast<ReduceOrder>(x.option), type);
  Footprint f;
  add_accesses(f, selection, source_of(x, type), false, "src");
  for (const Run& run : selection)
    f.add(results_access(x, run, bytes, bytes));
  return f;
}

void extremum_execute(const VectorReduceArgs& x, ReduceOp op, LaneType type, ExecContext& c) {
  struct Best {
    u32 bits = 0, index = 0;
    bool any = false;
  };
  with_format(type, [&]<class Format>(Format) {
    Reducer<Format> reducer(op, c);
    const u32 lanes = lanes_per_repeat(type);
    const u32 bytes = lane_bytes(type);
    const auto order = static_cast<ReduceOrder>(x.option);
    // The first of the best; NaN is better than anything, and stays.
    const auto improve = [&](Best& best, u32 bits, u32 index) {
      const u32 better = best.any ? reducer.apply(best.bits, bits) : reducer.apply(bits, bits);
      if (!best.any || better != best.bits) best = {better, index, true};
    };
    Best whole;
    for_each_source<1>(
        c, selection_of(x, type, c.spr, c.arch), {source_of(x, type)}, [&](const Run& run, u32 r, const auto& in) {
          const Taken t = reducer.take(in[0], lanes, bytes, run.mask);
          Best best;
          for (u32 i = 0; i < lanes; ++i) {
            if (t.active[i]) improve(best, t.bits[i], i);
          }
          improve(whole, best.bits, r * lanes + best.index);
          best.bits = reducer.result(best.bits);
          const View& ub = c.mem[BufId::UB];
          const u64 at = x.dst + u64{r} * x.dstRepStride * extremum_bytes(order, type);
          if (c.shadow != nullptr) {
            const Operand src = source_of(x, type);
            const u64 value = order == ReduceOrder::index_value ? at + bytes : at;
            if (order != ReduceOrder::only_value) clear_index(c, at, extremum_bytes(order, type));
            shadow_groups(
                c, {op, type, src, lanes, lanes}, run, r, in[0],
                [&](u32) { return order == ReduceOrder::only_index ? ShadowedGroups::kNoAddress : value; },
                [&](u32) { return Format::value(best.bits); });
          }
          switch (order) {
            case ReduceOrder::value_index:
              store_result(ub, at, best.bits, bytes);
              store_result(ub, at + bytes, best.index, bytes);
              break;
            case ReduceOrder::index_value:
              store_result(ub, at, best.index, bytes);
              store_result(ub, at + bytes, best.bits, bytes);
              break;
            case ReduceOrder::only_value: store_result(ub, at, best.bits, bytes); break;
            case ReduceOrder::only_index: store_result(ub, at, best.index, sizeof(u32)); break;
          }
        });
    if (whole.any) c.results.max_min_cnt = u64{whole.index} << 32 | reducer.finish(whole.bits);
    c.status |= reducer.raised();
  });
}

Footprint groups_footprint(const VectorReduceArgs& x, u32 group, LaneType type, const Spr& spr, Arch arch) {
  if (arch == Arch::c100 && group > 2 && x.dstRepStride == 0 && x.repeat > 1) {
    fail(Fault::Program, "dstRepStride = 0 is not allowed on c100");
  }
  const Selection selection = selection_of(x, type, spr, arch);
  Footprint f;
  add_accesses(f, selection, source_of(x, type), false, "src");
  const u32 unit = kRepeatBytes / group;
  for (const Run& run : selection)
    f.add(results_access(x, run, unit, (last_lane(run.mask) / group + 1) * lane_bytes(type)));
  return f;
}

void groups_execute(const VectorReduceArgs& x, ReduceOp op, u32 group, LaneType type, ExecContext& c) {
  with_format(type, [&]<class Format>(Format) {
    Reducer<Format> reducer(op, c);
    const u32 lanes = lanes_per_repeat(type);
    const u32 bytes = lane_bytes(type);
    const u32 unit = kRepeatBytes / group;
    for_each_source<1>(c, selection_of(x, type, c.spr, c.arch), {source_of(x, type)},
                       [&](const Run& run, u32 r, const auto& in) {
                         Taken t = reducer.take(in[0], lanes, bytes, run.mask);
                         reducer.reduce_groups(t, lanes, group);
                         if (c.shadow != nullptr) {
                           const Operand src = source_of(x, type);
                           shadow_groups(
                               c, {op, type, src, lanes, group}, run, r, in[0],
                               [&](u32 g) { return x.dst + u64{r} * x.dstRepStride * unit + u64{g} * bytes; },
                               [&](u32 g) { return Format::value(t.bits[g * group]); });
                         }
                         for (u32 i = 0; i < lanes; i += group) {
                           if (!t.active[i]) continue;
                           store_result(c.mem[BufId::UB], x.dst + u64{r} * x.dstRepStride * unit + i / group * bytes,
                                        t.bits[i], bytes);
                         }
                       });
    c.status |= reducer.raised();
  });
}

}  // namespace vinci::isa::insn
