// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "base/err_msg.h"

// The same for older code.
#define REPORT_INPUT_ERROR(...)
#define REPORT_INNER_ERROR(...)
#define REPORT_CALL_ERROR(...)
#define REPORT_ENV_ERROR(...)
