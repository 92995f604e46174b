// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

namespace vinci::ascendc {

// The line of the user's code, "add.asc:12", at which a call was made. `frames` has the return addresses of nested
// calls, the innermost first; the first one with a known line outside of this library, libc and libstdc++ counts. Where
// no line is known, returns the name of a function, or an empty string. Runs addr2line.
std::string place_of(const std::vector<void*>& frames);

}  // namespace vinci::ascendc
