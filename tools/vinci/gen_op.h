// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <CLI/CLI.hpp>

namespace vinci::cli {

// `vinci gen op` and the generators of families of operators: a kernel of the graph engine alone.
void add_gen_ops(CLI::App& gen);

}  // namespace vinci::cli
