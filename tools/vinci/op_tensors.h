// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <utility>

#include "isa/base/random.h"
#include "isa/base/types.h"
#include "tools/graph/ir/tensor.h"

// The tensors of an operator: as options of `vinci op` state them, and as files. docs/operators.md
namespace vinci::cli {

// Types and formats have the numbers of the published enumerations.
struct OperatorTensor {
  std::string name;
  int type = -1, format = -1;  // -1: not stated
  graph::Dims dims;
  std::string file;  // contents, raw; "" of an output that is not there yet
};

// "NAME=REST". Throws Fault::Input at `option`.
std::pair<std::string, std::string> name_and_value(const std::string& text, const std::string& option);

// "x=x.npy", "x=f16:4,1024", "x=f16:4,1024:FRACTAL_NZ=0.5", "x=i64=1,2", "x=bf16:4,1024@x.bin". The contents go into
// the file `raw`: floats in [-1, 1), bytes of the whole range and other integers from 0 to 99 where they are not
// stated.
OperatorTensor parse_input(const std::string& text, Random& random, const std::string& raw);

// "y=4,1024", "y=f16:4,1024".
OperatorTensor parse_output(const std::string& text);

// "f16", or "type 34" for one that this command does not have.
std::string type_text(const OperatorTensor& tensor);

// Throws Fault::Unsupported for types that this command does not have.
u64 bytes_of(const OperatorTensor& tensor);

// The contents as an .npy file. bfloat16 becomes float32, which NumPy has and which has each of its values.
void write_npy(const OperatorTensor& tensor, const std::string& path);

}  // namespace vinci::cli
