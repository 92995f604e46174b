// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/ascendc/plugin/module.h"

namespace vinci::plugin {

// Adds the section `__aicore_rel_binary` that objects of the vendor's compiler have: an ELF file that names the kernels
// of the module, with the records of `.ascend.meta` sections. Of kernels compiled for both kinds of cores there are two
// names, NAME_mix_aic and NAME_mix_aiv. Build steps of programs read it, and the library loads it (runtime/rt.h); the
// code itself is that of the program, which the names are looked up in.
void write_device_binary(llvm::Module& m, const Pass& pass, const Kernels& kernels);

}  // namespace vinci::plugin
