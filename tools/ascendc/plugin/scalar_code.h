// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/ascendc/plugin/module.h"

// Counts the operations of a kernel's own scalar code, for the library to charge. docs/front-end.md
namespace vinci::plugin {

// Of these functions, before anything is optimised: what is the user's of their code will be counted.
void mark_counted(const Functions& device);

// In what optimisation has left of them. Returns whether there was any.
bool count_operations(llvm::Module& m);

}  // namespace vinci::plugin
