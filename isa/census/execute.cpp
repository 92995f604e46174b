// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/execute.h"

#include <optional>
#include <utility>
#include <vector>

#include "isa/census/origins.h"
#include "isa/census/scalar.h"
#include "isa/shadow/shadow.h"
#include "isa/shadow/sorted.h"

namespace vinci::isa {
namespace {

// One execution as the shadows of a run see it.
class Shadowed {
 public:
  Shadowed(const Issued& inst, const ExecContext& context, Census& census, const Launch& launch, std::string_view core)
      : inst_(inst), context_(context), class_(shadow_class(*inst.row)) {
    const Site site{launch.kernel, inst.pc};
    const Moment moment{launch.block_idx, inst.order, launch.part};
    first_.emplace(*census.shadow, &census.shadow->core(context.mem), launch.task, site, moment, core);
    if (census.what_if != nullptr) {
      second_.emplace(*census.what_if, &census.what_if->core(context.mem), launch.task, site, moment, core);
      first_->next = &*second_;
    }
    if (SortedRecords::sorts(*inst.row)) sorted_.emplace(inst, context);
    if (atomic_type(context.spr.ctrl) == AtomicType::none || class_ == ShadowClass::other) return;
    for (const Access& a : footprint()) {
      if (a.atomic) atomic_.emplace_back(a);
    }
  }
  // Where the body of the instruction reports to.
  ShadowPoint* point() { return class_ == ShadowClass::computes && atomic_.empty() ? &*first_ : nullptr; }
  void before() {
    if (sorted_) return sorted_->take(&*first_);
    if (!atomic_.empty()) return before_atomic();
    if (class_ != ShadowClass::moves) return;
    each([&](ShadowPoint& point) { shadow_move(inst_, context_, point.shadow()); });
  }
  void after() {
    if (sorted_) return sorted_->put(&*first_);
    if (!atomic_.empty()) return after_atomic();
    if (class_ != ShadowClass::other) return;
    each([&](ShadowPoint& point) { shadow_write(footprint(), context_.mem, point); });
  }

 private:
  Footprint footprint() const { return inst_.row->footprint(inst_.args, context_.spr, context_.arch); }
  template <class F>
  void each(F f) {
    for (ShadowPoint* point = &*first_; point != nullptr; point = point->next)
      f(*point);
  }

  // An atomic write runs as a plain one first, so that what comes and its references are known; the memory then gets
  // back what was there.
  void before_atomic() {
    combined_.type = lane_type(atomic_type(context_.spr.ctrl));
    combined_.op = static_cast<ShadowCombined::Op>(atomic_op(context_.spr.ctrl));
    combined_.mem = &context_.mem.gm();
    for (const Access& a : atomic_)
      combined_.add(a);
    combined_.take_before(&*first_);
    Issued plain = inst_;
    plain.spr.ctrl &= ~ctrl::kAtomicType;
    u64 status = 0;
    ResultRegisters results = context_.results;
    ExecContext on{.mem = context_.mem,
                   .spr = plain.spr,
                   .arch = context_.arch,
                   .overflow = context_.overflow,
                   .status = status,
                   .results = results,
                   .numerics = context_.numerics,
                   .shadow = class_ == ShadowClass::computes ? &*first_ : nullptr};
    if (class_ == ShadowClass::moves) each([&](ShadowPoint& point) { shadow_move(plain, on, point.shadow()); });
    plain.row->execute(plain.args, on);
    combined_.take_source(&*first_);
  }
  void after_atomic() { combined_.count(&*first_); }
  static std::optional<LaneType> lane_type(AtomicType type) {
    switch (type) {
      case AtomicType::f32: return LaneType::f32;
      case AtomicType::f16: return LaneType::f16;
      case AtomicType::bf16: return LaneType::bf16;
      default: return {};
    }
  }

  const Issued& inst_;
  const ExecContext& context_;
  ShadowClass class_;
  std::optional<ShadowPoint> first_, second_;
  std::optional<SortedRecords> sorted_;
  std::vector<Access> atomic_;  // that it writes to global memory
  ShadowCombined combined_;
};

void execute_counted(const Issued& inst, ExecContext& context, Census* census, const Launch& launch,
                     std::string_view core) {
  if (census == nullptr) {
    inst.row->execute(inst.args, context);
    return;
  }
  std::optional<Shadowed> shadowed;
  if (census->shadow != nullptr) {
    shadowed.emplace(inst, context, *census, launch, core);
    shadowed->before();
  }
  if (!census->events) {
    context.shadow = shadowed ? shadowed->point() : nullptr;
    inst.row->execute(inst.args, context);
    if (shadowed) shadowed->after();
    return;
  }
  CensusPoint point(census->of(launch.task), {launch.kernel, inst.pc}, {launch.block_idx, inst.order, launch.part},
                    core);
  FollowedResults followed(*census, point, launch.task, context.overflow == OverflowMode::saturation);
  std::optional<Footprint> footprint;
  if (followed.reads()) {
    footprint = inst.row->footprint(inst.args, context.spr, context.arch);
    followed.read(*footprint, context.mem);
  }
  u64 raised = 0;  // by this execution alone; STATUS is sticky, and so is the code of atomic writes
  const u64 atomic_before = std::exchange(context.results.l2_atomic, 0);
  ExecContext counted{.mem = context.mem,
                      .spr = context.spr,
                      .arch = context.arch,
                      .overflow = context.overflow,
                      .status = raised,
                      .results = context.results,
                      .numerics = context.numerics,
                      .census = &point,
                      .shadow = shadowed ? shadowed->point() : nullptr,
                      .computed = context.computed};
  inst.row->execute(inst.args, counted);
  if (shadowed) shadowed->after();
  if (followed.writes()) {
    if (!footprint) footprint = inst.row->footprint(inst.args, context.spr, context.arch);
    followed.wrote(*footprint, context.mem);
  }
  context.status |= raised;
  point.add_status(raised);
  point.add_atomic(context.results.l2_atomic);
  if (atomic_before != 0) context.results.l2_atomic = atomic_before;
}

}  // namespace

void execute(const Issued& inst, ExecContext& context, Census* census, Observer* observer, const Launch& launch,
             std::string_view core) {
  if (observer == nullptr) return execute_counted(inst, context, census, launch, core);
  BlockSet computed;
  if (inst.row->computes != Computes::nothing) context.computed = &computed;
  observer->executing(inst);
  execute_counted(inst, context, census, launch, core);
  observer->executed(inst, computed);
}

u64 step(Sequencer& front, u64 status, const ResultRegisters& results, u64 sys_cnt, Census* census,
         const Launch& launch, std::string_view core) {
  if (census == nullptr) return front.step(status, results, sys_cnt);
  const std::optional<ScalarCensus> counted = census->events ? ScalarCensus::of(front) : std::nullopt;
  const u32 pc = front.pc();
  const u64 raised = front.step(status, results, sys_cnt);
  if (census->shadow != nullptr && front.last_access() && front.last_access()->write && front.mem() != nullptr) {
    const Access& a = *front.last_access();
    for (Shadow* shadow : {census->shadow.get(), census->what_if.get()}) {
      if (shadow != nullptr) shadow->space(*front.mem(), a.buffer).clear(a.address, a.bytes());
    }
  }
  if (counted) {
    CensusPoint point(census->of(launch.task), {launch.kernel, pc}, {launch.block_idx, front.issued(), launch.part},
                      core);
    counted->count(front, point);
    point.add_status(raised);
  }
  return raised;
}

}  // namespace vinci::isa
