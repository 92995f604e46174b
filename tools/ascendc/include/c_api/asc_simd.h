// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

// The C interface to kernels: functions asc_* of pointers to memories. Documentation: Ascend C API, C-API.
#include "c_api/control.h"
#include "c_api/cube.h"
#include "c_api/vector.h"

#undef VINCI_ASC
#undef VINCI_ASC_BOTH
#undef VINCI_ASC_LIST
#undef VINCI_ASC_SYNCED
