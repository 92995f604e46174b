// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/report/report_data.h"

namespace vinci::report {

// From numerics.json: `events` with count, share of all results and the first occurrence in the run, and the `sites`
// at which there were any, most first.
Json numerics_data(const Json& numerics);

}  // namespace vinci::report
