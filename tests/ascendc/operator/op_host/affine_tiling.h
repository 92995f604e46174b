// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <a_package_that_is_not_there/log.h>

#include "a_header_that_is_not_there.h"
#include "limits.h"
#include "register/tilingdata_base.h"

#define COUNTS(type) TILING_DATA_FIELD_DEF_ARR(type, kSlots, counts)

namespace optiling {
BEGIN_TILING_DATA_DEF(AffineTerms)
TILING_DATA_FIELD_DEF(float, slope);
TILING_DATA_FIELD_DEF(float, offset);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(AffineTermsOp, AffineTerms)

BEGIN_TILING_DATA_DEF(AffineTiling)
TILING_DATA_FIELD_DEF(uint32_t, length);  // elements of each block
TILING_DATA_FIELD_DEF_STRUCT(AffineTerms, terms);
COUNTS(uint16_t);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(AffineMap, AffineTiling)
REGISTER_TILING_DATA_CLASS(AffineListed, AffineTiling)

BEGIN_TILING_DATA_DEF(AffineShort)
TILING_DATA_FIELD_DEF(uint32_t, length);
END_TILING_DATA_DEF;
REGISTER_TILING_DATA_CLASS(AffineMap_7, AffineShort)
}  // namespace optiling
