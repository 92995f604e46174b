// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

// Ascend C for kernels, all of it that Vinci has (docs/ascendc.md). What is not there does not compile, under its name.
#include "ascendc/convert.h"
#include "ascendc/copy.h"
#include "ascendc/debug.h"
#include "ascendc/fused.h"
#include "ascendc/gather.h"
#include "ascendc/layout.h"
#include "ascendc/mask.h"
#include "ascendc/pipe.h"
#include "ascendc/pool.h"
#include "ascendc/reduce.h"
#include "ascendc/reduce_tensor.h"
#include "ascendc/scalar.h"
#include "ascendc/select.h"
#include "ascendc/sort.h"
#include "ascendc/special.h"
#include "ascendc/sync.h"
#include "ascendc/system.h"
#include "ascendc/tensor.h"
#include "ascendc/tiling.h"
#include "ascendc/vector.h"
