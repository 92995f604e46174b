// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/shadow/shadow.h"

namespace vinci::isa {

// What the exact operation makes of the simulated operands of a repeat, which is one of floats.
void exact_results(const ShadowLanes& s, DoubleLanes& exact);

}  // namespace vinci::isa
