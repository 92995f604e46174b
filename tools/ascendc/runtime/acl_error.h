// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "acl/acl_base.h"

namespace vinci::ascendc {

// Keeps `code` and `message` for aclrtGetLastError and aclGetRecentErrMsg of this thread. Returns `code`.
aclError acl_failed(aclError code, std::string message);

}  // namespace vinci::ascendc
