// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

// Host functions of the high-level API: tiling data and sizes of temporary memory. Programs use std::cout and memcpy_s
// without headers of their own, as the published header brings them.
#include <iostream>

#include "ascendc/advanced/host_norms.h"
#include "ascendc/advanced/host_rows.h"
#include "ascendc/advanced/host_sizes.h"
#include "ascendc/constants.h"
#include "ascendc/matmul/host_tiling.h"
#include "securec.h"
