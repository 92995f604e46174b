// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/census/census.h"
#include "isa/machine/observer.h"
#include "isa/machine/sequencer.h"

namespace vinci::isa {

// Executes an instruction of a block; its results are counted where there is a census, and an observer hears of it.
void execute(const Issued& inst, ExecContext& context, Census* census, Observer* observer, const Launch& launch,
             std::string_view core);

// Sequencer::step(); an f32 result of the scalar unit is counted where there is a census.
u64 step(Sequencer& front, u64 status, const ResultRegisters& results, u64 sys_cnt, Census* census,
         const Launch& launch, std::string_view core);

}  // namespace vinci::isa
