// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/ascendc/plugin/module.h"

// Code of one kind of core must not meet that of the other: functions of the same name differ. docs/front-end.md
namespace vinci::plugin {

// In the object with the host's code: gives kernels copies of what they call. Returns the kernels' code, with the
// copies.
Functions copy_shared_code(const Kernels& kernels, const Functions& device);

// In the other object: leaves only what kernels need. Data that can change is that of the host's object.
void leave_only_kernels(llvm::Module& m, const Kernels& kernels, const Functions& device);

}  // namespace vinci::plugin
