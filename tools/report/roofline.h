// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/report/report_data.h"

namespace vinci::report {

// What bounds a chip, or several of them.
struct Ceilings {
  double cube = 0;    // FP16 operations per second, two for each multiply-accumulate
  double vector = 0;  // operations per second of its vector units: 128 a repeat, the lanes of FP16
  double l2 = 0;      // bytes per second between the cores and L2, of all slices, reads and writes together
  double hbm = 0;     // bytes per second
};

inline constexpr double kOperationsPerRepeat = 128;

// The ceilings of `devices` chips. The vector peak is that of a two-operand instruction without start-up.
Ceilings ceilings(const config::ChipConfig& chip, usize devices);

// Ceilings and points. A point: operations, bytes, seconds and how often (`count`) of all launches of a kernel with
// one name, once for each unit that computed in it; bytes are those between the cores and L2 (`level` L2). And for the
// whole run, with its kernel time, both against L2 and against HBM.
Json roofline(const Json& stats, const Ceilings& ceilings, u64 kernel_cycles);

}  // namespace vinci::report
