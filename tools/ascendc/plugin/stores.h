// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <llvm/IR/InstrTypes.h>

#include "tools/ascendc/plugin/module.h"

// Stores of a kernel's own scalar code through pointers. Only the library can tell whether such a pointer is one to
// global memory, where other cores and the host see what is stored.
namespace vinci::plugin {

// After optimisation: the library is told of each store that may be to global memory. Returns whether there was any.
bool tell_stores(llvm::Module& m);
// Whether it is, of a store: then the library also counts the access.
bool is_told(const llvm::Instruction& store);
// Whether a call only tells.
bool is_telling(const llvm::CallBase& call);

}  // namespace vinci::plugin
