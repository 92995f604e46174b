// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/execute.h"

#include <utility>

namespace vinci::isa {

void execute(const Issued& inst, ExecContext& context, Census* census, const Launch& launch, std::string_view core) {
  if (census == nullptr) {
    inst.row->execute(inst.args, context);
    return;
  }
  CensusPoint point(census->tasks[launch.task], {launch.kernel, inst.pc}, {launch.block_idx, inst.order, launch.part},
                    core);
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
  context.status |= raised;
  point.add_status(raised);
  point.add_atomic(context.results.l2_atomic);
  if (atomic_before != 0) context.results.l2_atomic = atomic_before;
}

}  // namespace vinci::isa
