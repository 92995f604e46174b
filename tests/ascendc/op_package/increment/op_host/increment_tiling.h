// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once
#include "register/tilingdata_base.h"

namespace optiling {
BEGIN_TILING_DATA_DEF(IncrementTilingData)
TILING_DATA_FIELD_DEF(uint32_t, length);
TILING_DATA_FIELD_DEF(int64_t, back);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(Increment, IncrementTilingData)
}  // namespace optiling
