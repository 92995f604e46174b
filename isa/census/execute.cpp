// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/execute.h"

#include <optional>
#include <utility>

#include "isa/census/origins.h"
#include "isa/census/scalar.h"

namespace vinci::isa {
namespace {

// One execution as special values see it: asks before it runs where those that it reads come from, and marks afterwards
// what it wrote.
class FollowedExecution {
 public:
  FollowedExecution(const Issued& inst, const ExecContext& context, Census& census, u32 task, CensusPoint& point)
      : inst_(inst), context_(context), census_(census), task_(task), point_(point) {
    if (census.origins == nullptr || census.origins->empty()) return;
    cause_ = census.origins->read_by(footprint(), context.mem);
    point.set_cause(cause_);
  }
  void finish() {
    const bool has_marks = census_.origins != nullptr && !census_.origins->empty();
    if (point_.born() == 0 && !has_marks) return;
    if (census_.origins == nullptr) census_.origins = std::make_shared<Origins>();
    Origins& origins = *census_.origins;
    u32 node = 0;
    if (point_.born() != 0) {
      node = origins.born(task_, point_.id(), point_.born());
    } else if (cause_ != 0) {
      node = origins.passed(cause_, task_, point_.id());
    }
    origins.written_by(footprint(), context_.mem, node);
  }

 private:
  const Footprint& footprint() {
    if (!footprint_) footprint_ = inst_.row->footprint(inst_.args, context_.spr, context_.arch);
    return *footprint_;
  }

  const Issued& inst_;
  const ExecContext& context_;
  Census& census_;
  u32 task_;
  CensusPoint& point_;
  u32 cause_ = 0;
  std::optional<Footprint> footprint_;
};

}  // namespace

void execute(const Issued& inst, ExecContext& context, Census* census, const Launch& launch, std::string_view core) {
  if (census == nullptr) {
    inst.row->execute(inst.args, context);
    return;
  }
  CensusPoint point(census->of(launch.task), {launch.kernel, inst.pc}, {launch.block_idx, inst.order, launch.part},
                    core);
  FollowedExecution followed(inst, context, *census, launch.task, point);
  u64 raised = 0;  // by this execution alone; STATUS is sticky, and so is the code of atomic writes
  const u64 atomic_before = std::exchange(context.results.l2_atomic, 0);
  ExecContext counted{.mem = context.mem,
                      .spr = context.spr,
                      .arch = context.arch,
                      .overflow = context.overflow,
                      .status = raised,
                      .results = context.results,
                      .numerics = context.numerics,
                      .census = &point};
  inst.row->execute(inst.args, counted);
  followed.finish();
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
