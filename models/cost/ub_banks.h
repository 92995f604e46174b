// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/table/insn.h"
#include "sim/config/chip_config.h"

namespace vinci::models {

// Conflicts of a vector instruction in the banks of UB, all steps added up: of the blocks that a step reads, those
// beyond the first in the group where most meet; or of those that it writes, if these are more; and banks that the step
// writes while the next one reads them in a single cycle. Operands that read the same block share it. Source of the
// mechanism: asc-devkit bank_conflict_ub and the Ascend C documentation of UB banks; that operands share a block is an
// assumption.
double ub_conflicts(const isa::Footprint& footprint, const config::UbBanks& banks);

// What conflicts and a destination that ends inside a block cost in cycles, by the line of the instruction.
double cycles_in_ub(const config::CostLine& line, const isa::Footprint& footprint, const config::UbBanks& banks);

}  // namespace vinci::models
