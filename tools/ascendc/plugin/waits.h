// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <llvm/IR/Module.h>

namespace vinci::plugin {

// Finds loops of kernels that go on until a load has a value: one of their exits depends on loads from an address that
// does not change in the loop, and on nothing else that does. Puts a call of vinci_kernel_awaits() in front of each
// such load of the API, and one of vinci_kernel_await() in front of one through a pointer of the program, which is no
// instruction otherwise. Runs last, when the functions of the API are inlined; of functions that are marked as counted.
// True where there was such a load.
bool mark_waits(llvm::Module& m);

}  // namespace vinci::plugin
