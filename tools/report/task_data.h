// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/report/report_data.h"

namespace vinci::report {

// The tasks of the timeline, column by column: names, kinds and streams as indices into their tables.
Json task_columns(const Json& stats);

// A row for each name and kind of task, longest in total first.
Json operators(const Json& stats);

// Cycles of a task without the cold start of a kernel.
u64 warm_duration(const Json& task);

// Cycles in which at least one task did work; tasks that only order others do none. Null where that is not known,
// because the run had more tasks than stats.json keeps.
Json task_cycles(const Json& stats);

}  // namespace vinci::report
