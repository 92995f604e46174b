// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <vector>

#include "tools/report/report_data.h"

namespace vinci::report {

// The counters of each device of a run: those of stats.json, or with several devices its groups npu0, npu1 and so on.
std::vector<const Json*> devices(const Json& counters);

// What the pipes did while kernels ran: a row for each kind of core and pipe, summed over the cores that had work.
// `whole` is what a share refers to: kernel cycles of these cores.
Json pipes(const Json& stats, u64 kernel_cycles);

// Busy cycles of each pipe (a row) of each core that had work (a column), for a map of how even the load is.
Json cores(const Json& stats);

// Bytes that the instructions of each kind of core and pipe read and wrote, from their footprints.
Json pipe_traffic(const Json& stats);

}  // namespace vinci::report
