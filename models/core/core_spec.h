// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/machine/issue.h"
#include "sim/config/chip_config.h"
#include "sim/task/task.h"

// What the cores of a chip are, for programs: no time, no SystemC.
namespace vinci::models {

isa::CoreSpec core_spec(const config::ChipConfig& chip, isa::CoreKind kind);

// "core3.AIV": of a kind, counted over the whole chip.
std::string core_name(isa::CoreKind kind, u32 id);

// The kind of core that kernels of a type run on.
isa::CoreKind core_kind(task::KernelType type);

// Refuses a task stream that this chip cannot run: another architecture, a kernel or task type without cores, more
// device memory than there is. Throws Fault::Input or Fault::Limit.
void check_fit(const config::ChipConfig& chip, const task::TaskStream& stream);

}  // namespace vinci::models
