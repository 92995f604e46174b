// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "isa/base/types.h"

namespace vinci::processes {

// The texts that `f` returns for 0 .. count - 1, worked out by `jobs` processes, or as many as the system allows: a
// simulation belongs to its process. `f` reports errors in its text; a process that dies is Fault::Internal, one that
// the system ends for want of memory Fault::Limit. The processes end with the one that called, whatever ends it.
// `progress` is told now and then how many have begun, in the process that called; what it throws ends the work.
std::vector<std::string> in_processes(usize count, unsigned jobs, const std::function<std::string(usize)>& f,
                                      const std::function<void(usize)>& progress = {});

}  // namespace vinci::processes
