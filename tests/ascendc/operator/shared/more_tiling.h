// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Of another source than shared_tiling.h, with the same guard.
#ifndef VINCI_TEST_SHARED_TILING_H
#define VINCI_TEST_SHARED_TILING_H

#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(AffineUnused)
TILING_DATA_FIELD_DEF(uint32_t, length);
END_TILING_DATA_DEF;
}  // namespace optiling
#endif
