// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "isa/census/census.h"
#include "isa/machine/issue.h"
#include "isa/numeric/lanes.h"
#include "isa/shadow/planes.h"

// Shadow execution (`--numerics=shadow`, docs/numerics.md): a reference in double for each element, and how far each
// result is from it. Control, addresses, comparisons and sorts follow the simulated values.
namespace vinci::isa {
namespace shadow_kernels {
struct Tally;
}

// One kind of error over results, in ulp of the result's type at the reference, and relative to the reference.
struct ErrorSums {
  double max_ulp = 0, squares_ulp = 0;
  double max_relative = 0, squares_relative = 0;

  void add(const ErrorSums& o);
};

// How far the results of one instruction in one task are from their references.
struct ShadowSite {
  u64 executions = 0;
  u64 results = 0;    // of a floating-point type
  u64 restarted = 0;  // of them, those with an operand whose reference had ended: it is taken for exact
  u64 ended = 0;      // results of any type that were made bit by bit from values with references
  u64 wrong = 0;      // infinite or NaN where the reference is not, or the other way round; no part of the sums
  ErrorSums total;    // the result and its reference
  ErrorSums made;     // the result and what the exact operation makes of the same operands
  ErrorSums come_in;  // what the exact operation makes of the operands, and of their references
  u64 cancelled = 0;  // sums that lost at least half of their bits and whose operands had errors
  u64 decided = 0;    // decisions that the references would take otherwise
  u64 absorbed = 0;   // of `mad`: addends of the k-loop that changed nothing
  u64 addends = 0;    // of `mad`: all of them, but products that are zero

  // The result with the largest error in ulp.
  struct Worst {
    double ulp = -1, value = 0, exact = 0, reference = 0;
    u64 element = 0;
    Moment moment;
    std::string core;
  } worst;
};

using TaskShadow = std::map<Site, ShadowSite>;

// A format that a reference is rounded to; own: the one that the result has in the simulated program.
enum class ShadowFormat : u8 { f16, bf16, f32, f64, own };
inline constexpr auto kShadowFormatNames = enum_names<ShadowFormat>;

// The order in which a sum of many addends is rounded: of `mad` along k, behind what C held; of a reduction from the
// first lane on.
//   own         as it is: of `mad` one after the other, of a reduction a tree of pairs
//   sequential  one after the other
//   reversed    the same from the last to the first
//   pairwise    a tree of adjacent pairs
enum class SumOrder : u8 { own, sequential, reversed, pairwise };
inline constexpr auto kSumOrderNames = enum_names<SumOrder>;

// The sum of addends in an order; `round` is called with each partial sum.
template <class T, class Round>
T ordered_sum(std::span<T> addends, SumOrder order, Round&& round) {
  if (addends.empty()) return 0;
  if (order == SumOrder::pairwise) {
    for (usize left = addends.size(); left > 1; left = (left + 1) / 2) {
      for (usize i = 0; i < left / 2; ++i)
        addends[i] = round(addends[2 * i] + addends[2 * i + 1]);
      if (left % 2 != 0) addends[left / 2] = addends[left - 1];
    }
    return addends[0];
  }
  const bool reversed = order == SumOrder::reversed;
  T sum = reversed ? addends.back() : addends.front();
  for (usize i = 1; i < addends.size(); ++i)
    sum = round(sum + addends[reversed ? addends.size() - 1 - i : i]);
  return sum;
}

// What the second shadow of a what-if does to results: those of chosen tasks or instructions get a format, a scale of
// 2^scale and an order of their sums, the others the format and the order that they have in the simulated program.
struct WhatIf {
  ShadowFormat format = ShadowFormat::f32;
  int scale = 0;
  SumOrder order = SumOrder::own;
  std::function<bool(u32 task, const Site&)> chosen;
};

// Of a whole run.
class Shadow {
 public:
  Shadow() = default;
  explicit Shadow(WhatIf what_if) : what_if_(std::move(what_if)) {}

  std::map<u32, TaskShadow> tasks;  // as Census::tasks

  GlobalRefs& global() { return gm_; }
  HostRefs& host(u32 buffer) { return hosts_[buffer]; }
  CoreRefs& core(const CoreMem& mem);
  RefSpace& space(const CoreMem& mem, BufId b) {
    return b == BufId::GM ? static_cast<RefSpace&>(gm_) : core(mem).buffers[index(b)];
  }
  const std::optional<WhatIf>& what_if() const { return what_if_; }

  template <class F>
  void renumber_tasks(F position) {
    auto by_number = std::exchange(tasks, {});
    while (!by_number.empty()) {
      auto node = by_number.extract(by_number.begin());
      node.key() = position(node.key());
      tasks.insert(std::move(node));
    }
  }

 private:
  std::optional<WhatIf> what_if_;
  GlobalRefs gm_;
  std::unordered_map<u32, HostRefs> hosts_;
  std::unordered_map<const CoreMem*, std::unique_ptr<CoreRefs>> cores_;
};

// What is computed lane by lane, in the words of the kernels.
struct LaneOp {
  enum class Kind : u8 { bits, unary, binary, ternary, convert, scale };  // bits: no arithmetic of floats
  Kind kind = Kind::bits;
  u8 op = 0;

  constexpr LaneOp() = default;
  constexpr LaneOp(Kind k) : kind(k) {}
  constexpr LaneOp(UnaryOp o) : kind(Kind::unary), op(static_cast<u8>(o)) {}
  constexpr LaneOp(BinaryOp o) : kind(Kind::binary), op(static_cast<u8>(o)) {}
  constexpr LaneOp(TernaryOp o) : kind(Kind::ternary), op(static_cast<u8>(o)) {}
};

inline constexpr u32 kShadowLanes = 128;
struct alignas(64) DoubleLanes {
  std::array<double, kShadowLanes> v;
};
using PlaneLanes = std::array<LaneBuffer, kPlanes>;
// The places of the words of some lanes in the planes.
using PlanesFrom = std::array<const std::byte*, kPlanes>;
using PlanesTo = std::array<std::byte*, kPlanes>;
inline PlanesTo places_of(PlaneLanes& p) {
  PlanesTo out;
  for (u32 i = 0; i < kPlanes; ++i)
    out[i] = p[i].bytes.data();
  return out;
}
inline PlanesFrom read_only(const PlanesTo& p) { return {p[0], p[1], p[2], p[3]}; }

// One operand of a repeat: its simulated lanes, and what the planes have; null: no references.
struct ShadowOperand {
  LaneType type = LaneType::f16;
  const LaneBuffer* lanes = nullptr;
  const PlanesFrom* planes = nullptr;
};
// One repeat of an instruction that computes lane by lane.
struct ShadowLanes {
  LaneOp op;
  RoundMode round = RoundMode::rint;
  ShadowOperand a{}, b{}, old{};  // b and old: lanes may be null
  LaneType dst = LaneType::f16;
  const LaneBuffer* out = nullptr;  // the simulated results
  u32 lanes = 0;
  LaneBits active{};
  u64 element = 0;  // of lane 0
};

// Several repeats of such an instruction whose lanes are side by side, after they were computed: values, and where they
// are in UB.
struct ShadowRepeats {
  struct Place {
    u64 address = 0;  // of the first repeat, bytes
    u64 stride = 0;   // bytes
  };
  LaneOp op;
  LaneType type = LaneType::f16;
  Repeats values;  // with the results
  Place a, out;
  std::optional<Place> b;  // nothing: a scalar
  u64 first = 0;           // the number of the first repeat
};

// One execution of an instruction, or of a task that is no kernel, as one shadow sees it.
class ShadowPoint {
 public:
  ShadowPoint(Shadow& shadow, CoreRefs* core, u32 task, const Site& id, const Moment& moment, std::string_view name)
      : shadow_(shadow), core_(core), task_(task), id_(id), moment_(moment), name_(name) {
    if (const auto& w = shadow.what_if()) chosen_ = w->chosen(task, id);
  }
  ShadowPoint(const ShadowPoint&) = delete;
  ShadowPoint& operator=(const ShadowPoint&) = delete;

  ShadowPoint* next = nullptr;  // of another shadow of the run

  Shadow& shadow() const { return shadow_; }
  CoreRefs& core() const { return *core_; }
  RefSpace& space(BufId b) const {
    return b == BufId::GM ? static_cast<RefSpace&>(shadow_.global()) : core_->buffers[index(b)];
  }

  // Whether it can compute whole repeats of an operation on a type in the planes themselves; and does so.
  bool computes_repeats(const LaneOp& op, LaneType type) const;
  void compute(const ShadowRepeats& s);
  // Computes the references of a repeat; false: the results are their own references, or `ended` is set: no more.
  bool compute(const ShadowLanes& s, const PlanesTo& to);
  // The error of results: what was computed, what the exact operation makes of the same operands, and the reference,
  // which a what-if may round. Counts them as results.
  void count(LaneType type, std::span<const double> value, std::span<const double> exact, std::span<double> reference,
             u64 element);
  void add_restarted(u64 n) {
    if (n != 0) site().restarted += n;
  }
  void add_ended(u64 n) {
    if (n != 0) site().ended += n;
  }
  void add_decided(u64 n) {
    if (n != 0) site().decided += n;
  }
  void add_cancelled(u64 n) {
    if (n != 0) site().cancelled += n;
  }
  void add_absorbed(u64 absorbed, u64 addends) {
    site().absorbed += absorbed;
    site().addends += addends;
  }
  // Whether what is made here gets its own format: of a what-if.
  bool rounds() const { return shadow_.what_if().has_value(); }
  // Whether it is a double all the same.
  bool in_double() const { return chosen_ && shadow_.what_if()->format == ShadowFormat::f64; }
  // The order of sums: of a what-if.
  SumOrder order() const { return chosen_ && rounds() ? shadow_.what_if()->order : SumOrder::own; }
  // Rounds to the format that results of this type have here; only of a what-if.
  void round(LaneType type, std::span<double> reference) const;

 private:
  ShadowSite& site();
  void add_tally(const shadow_kernels::Tally& tally, u64 results);

  Shadow& shadow_;
  CoreRefs* core_;
  u32 task_;
  Site id_;
  Moment moment_;
  std::string_view name_;
  bool chosen_ = false;
  ShadowSite* site_ = nullptr;
};

// What shadow execution does with an instruction.
enum class ShadowClass : u8 {
  computes,  // its body reports to ExecContext::shadow
  moves,     // it runs on the planes, too
  other,     // references of what it writes end where it reads some, else there are none
};
ShadowClass shadow_class(const Row& row);

// An instruction that runs on the planes of a shadow, before it does on the memory.
void shadow_move(const Issued& inst, const ExecContext& context, Shadow& shadow);
// The references of what an instruction has written that neither computes nor moves them.
void shadow_write(const Footprint& footprint, const CoreMem& mem, ShadowPoint& point);

// Elements of global memory that are combined with others: by an atomic write, or a task. `pieces` are their places;
// `source` where the others come from, if that is not what a plain write would leave there.
struct ShadowCombined {
  enum class Op : u8 { add, max, min };
  struct Piece {
    u64 address, bytes;
  };

  GlobalMemory* mem = nullptr;
  Op op = Op::add;
  std::optional<LaneType> type;  // nothing: integers
  std::vector<Piece> pieces;

  void add(const Access& a);
  // What is there, before a plain write; what that has left, with which memory gets back what was there; and when they
  // are combined. `first`: the shadows.
  void take_before(ShadowPoint* first);
  void take_source(ShadowPoint* first);
  // The same where the others are at `address`.
  void take_source_at(ShadowPoint* first, u64 address);
  void count(ShadowPoint* first);

 private:
  struct Values {
    std::vector<double> simulated;
    std::vector<std::vector<double>> references;  // by shadow
  };
  Values values(ShadowPoint* first, std::span<const Piece> at) const;

  std::vector<std::byte> kept_;
  Values before_, source_;
};

}  // namespace vinci::isa
