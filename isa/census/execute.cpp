// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/execute.h"

#include <optional>
#include <utility>

#include "isa/census/origins.h"
#include "isa/census/scalar.h"
#include "isa/shadow/shadow.h"

namespace vinci::isa {
namespace {

// One execution as the shadows of a run see it.
class Shadowed {
 public:
  Shadowed(const Issued& inst, const ExecContext& context, Census& census, const Launch& launch, std::string_view core)
      : inst_(inst), context_(context), census_(census), class_(class_of(inst, context)) {
    const Site site{launch.kernel, inst.pc};
    const Moment moment{launch.block_idx, inst.order, launch.part};
    CoreRefs& refs = census.shadow->core(context.mem);
    first_.emplace(*census.shadow, &refs, launch.task, site, moment, core);
    if (census.what_if != nullptr) {
      second_.emplace(*census.what_if, &census.what_if->core(context.mem), launch.task, site, moment, core);
      first_->next = &*second_;
    }
  }
  ShadowPoint* point() { return class_ == ShadowClass::computes ? &*first_ : nullptr; }
  void before() {
    if (class_ != ShadowClass::moves) return;
    shadow_move(inst_, context_, *census_.shadow);
    if (second_) shadow_move(inst_, context_, *census_.what_if);
  }
  void after() {
    if (class_ != ShadowClass::other) return;
    const Footprint footprint = inst_.row->footprint(inst_.args, context_.spr, context_.arch);
    shadow_write(footprint, context_.mem, *census_.shadow, *first_);
    if (second_) shadow_write(footprint, context_.mem, *census_.what_if, *second_);
  }

 private:
  // Atomic writes compute, and have no references.
  static ShadowClass class_of(const Issued& inst, const ExecContext& context) {
    if (atomic_type(context.spr.ctrl) == AtomicType::none) return shadow_class(*inst.row);
    for (const Access& a : inst.row->footprint(inst.args, context.spr, context.arch)) {
      if (a.atomic) return ShadowClass::other;
    }
    return shadow_class(*inst.row);
  }

  const Issued& inst_;
  const ExecContext& context_;
  Census& census_;
  ShadowClass class_;
  std::optional<ShadowPoint> first_, second_;
};

}  // namespace

void execute(const Issued& inst, ExecContext& context, Census* census, const Launch& launch, std::string_view core) {
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
                      .shadow = shadowed ? shadowed->point() : nullptr};
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

u64 step(Sequencer& front, u64 status, const ResultRegisters& results, u64 sys_cnt, Census* census,
         const Launch& launch, std::string_view core) {
  if (census == nullptr) return front.step(status, results, sys_cnt);
  const std::optional<ScalarCensus> counted = ScalarCensus::of(front);
  const u32 pc = front.pc();
  const u64 raised = front.step(status, results, sys_cnt);
  if (counted) {
    CensusPoint point(census->of(launch.task), {launch.kernel, pc}, {launch.block_idx, front.issued(), launch.part},
                      core);
    counted->count(front, point);
    point.add_status(raised);
  }
  return raised;
}

}  // namespace vinci::isa
