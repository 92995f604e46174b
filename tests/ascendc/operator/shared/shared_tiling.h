// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#ifndef VINCI_TEST_SHARED_TILING_H
#define VINCI_TEST_SHARED_TILING_H

#include "register/tilingdata_base.h"

// What another operator's host code registers for AffineMap with tiling key 9: the struct of key 7.
namespace optiling {
REGISTER_TILING_DATA_CLASS(AffineMap_9, AffineShort)
}  // namespace optiling
#endif
