// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "tools/report/report_data.h"

namespace vinci::report {

// report.html: the files of tools/report/page and the data in one document that needs nothing else and asks no network.
std::string page(const Json& data);

}  // namespace vinci::report
