// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/ascendc/include/vinci/ascendc.h"

struct VinciKernel;

namespace vinci::ascendc {

// The type of the kernel that the call reaches: as the source says, or as its code for both kinds of cores does.
KernelType declared_type(const Launch& launch, Call kernel, void* context);
// The kernel that an entry belongs to; null where it is none.
const VinciKernel* kernel_of(void (*entry)());

}  // namespace vinci::ascendc
