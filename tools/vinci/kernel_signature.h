// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Kernels as a source declares them, found in its text.
namespace vinci::cli {

// A parameter of a template: its type ("uint32_t"; "typename" for a type) and its name.
struct TemplateParameter {
  std::string type, name;
};

struct KernelSignature {
  std::string name;
  std::vector<std::string> parameters;  // names
  std::vector<TemplateParameter> template_parameters;
};

std::string without_comments(std::string_view text);

// The functions `__global__ __aicore__ void name(...)` of a text without comments.
std::vector<KernelSignature> kernels_in(const std::string& code);

// The only one, or else the one with that name. Throws Fault::Input, located at `file`, where there is none.
const KernelSignature& kernel_named(const std::vector<KernelSignature>& all, const std::string& name,
                                    const std::string& file);

// Whether kernels below a folder (op_kernel) compute products, those for chips with register vectors apart.
bool has_products(const std::string& folder);

}  // namespace vinci::cli
