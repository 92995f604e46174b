// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <vector>

// Messages with a code, for the list of errors of a device's driver: there is none here. The log has the same texts.
#define REPORT_INNER_ERR_MSG(...)
#define REPORT_PREDEFINED_ERR_MSG(...)
#define REPORT_USER_ERR_MSG(...)
#define REG_FORMAT_ERROR_MSG(...) static_assert(true)

// The module that operators log as.
enum VinciModule { OP = 63 };
