// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/row_sizes.h"
#include "ascendc/hccl.h"
#include "ascendc/matmul/tiling_data.h"
