// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/machine/issue.h"

namespace vinci::isa {

// Whether the unit of an instruction keeps registers from one instruction to the next: the vector unit does (CMPMASK,
// results of reductions).
inline bool keeps_registers(const Issued& inst) { return inst.pipe == PipeId::V; }

}  // namespace vinci::isa
