// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

namespace vinci::ascendc {

// Where return addresses of nested calls, the innermost first, are in the code of the user: "add.asc:12", or what is
// known of the innermost one. Runs addr2line.
std::string place_of(const std::vector<void*>& frames);

}  // namespace vinci::ascendc
