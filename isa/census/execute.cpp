// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/execute.h"

#include <optional>
#include <utility>

#include "isa/census/origins.h"
#include "isa/census/scalar.h"

namespace vinci::isa {

void execute(const Issued& inst, ExecContext& context, Census* census, const Launch& launch, std::string_view core) {
  if (census == nullptr) {
    inst.row->execute(inst.args, context);
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
                      .census = &point};
  inst.row->execute(inst.args, counted);
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
