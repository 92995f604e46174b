// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/ascendc/plugin/module.h"

// Kernels become entries that choose the code for the kind of the present core. docs/front-end.md
namespace vinci::plugin {

// The kernel becomes an entry without a body; its code becomes a function of its own.
void separate(llvm::Module& m, llvm::Function& entry, Kernel& kernel);

// The type of the record of a kernel's code for one kind (vinci/kernel_code.h: VinciKernelBody).
llvm::StructType* body_type(llvm::LLVMContext& context);

// Writes the entries, their tables and the records of the code of this pass; erases what states a kernel's type.
void write_entries(llvm::Module& m, const Pass& pass, Kernels& kernels, Literals& literals);

}  // namespace vinci::plugin
