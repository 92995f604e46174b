// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

#include "tools/vinci/kernel_signature.h"
#include "tools/vinci/op_host.h"

// The program that launches the kernel of an operator once. docs/operators.md
namespace vinci::cli {

struct LaunchOptions {
  std::string folder;                 // where the program writes raw contents
  std::vector<std::string> in_place;  // inputs that the kernel changes: they are written, too
  bool pool = false;                  // all tensors are in one allocation
};

struct LaunchProgram {
  std::string text;
  std::vector<OperatorTensor> outputs;  // what it writes
};

// `source` has the kernel. Throws Fault::Input where it has other parameters than the operator has tensors.
LaunchProgram launch_program(const OperatorTiling& tiling, const OperatorUse& use, const std::string& source,
                             const KernelSignature& kernel, const LaunchOptions& options);

}  // namespace vinci::cli
