// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>

namespace vinci::trace {

// A JSON string with its quotes; what is no UTF-8 is replaced.
std::string json_string(std::string_view s);

}  // namespace vinci::trace
