// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/ascendc/plugin/module.h"

// Integer divisions of kernels. The scalar unit of a core goes on after a division by zero, where the host would end
// the program; kernels compute quotients ahead that they do not use.
namespace vinci::plugin {

// Before optimisation, which mixes functions of kernels with others.
void mark_divisions(const Functions& device);
// At the end, where only divisions are left whose divisors are not known: what is added is neither optimised nor
// counted. Whether there are any.
bool guard_divisions(llvm::Module& m);

}  // namespace vinci::plugin
