// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "acl/acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

aclError aclInit(const char* config);
aclError aclFinalize();
// What the latest call that failed on this thread says, or null; it is forgotten then.
const char* aclGetRecentErrMsg();

#ifdef __cplusplus
}
#endif
