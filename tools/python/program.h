// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <pybind11/pybind11.h>
#include <vinci/isa/builder/program_builder.h>

// vinci.ProgramBuilder and its parts: isa::ProgramBuilder for Python.
namespace vinci::python {

struct BuiltProgram {
  isa::BuiltProgram built;
};

void bind_program(pybind11::module_& m);

}  // namespace vinci::python
