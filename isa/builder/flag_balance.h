// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "isa/program/program.h"

namespace vinci::isa {

// A flag that is certainly not waited for as often as it is set, as a message, or "". Decided are flags of pipe pairs
// whose event ids are all numbers: where every way to an `end` leaves the same number of flags up, or where the program
// never sets, or never waits for, a flag. The program must pass verify().
std::string unbalanced_flag(const Program& program);

}  // namespace vinci::isa
