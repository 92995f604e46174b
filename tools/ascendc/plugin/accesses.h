// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/ascendc/plugin/module.h"

// Accesses to the core's own memories become calls of the library (vinci/kernel_code.h). docs/front-end.md
namespace vinci::plugin {

void instrument(llvm::Module& m, const Functions& device, Literals& literals);

}  // namespace vinci::plugin
