// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/ascendc/plugin/module.h"

// Integer divisions of kernels. The scalar unit of a core goes on after a division by zero, where the host would end
// the program; kernels compute quotients ahead that they do not use.
namespace vinci::plugin {

void guard_divisions(const Functions& device);

}  // namespace vinci::plugin
