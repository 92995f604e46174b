// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once
#include "ascendc/host_api/tiling/template_argument.h"

ASCENDC_TPL_ARGS_DECL(SumList, ASCENDC_TPL_BOOL_DECL(SQUARE, 0, 1),
                      ASCENDC_TPL_DATATYPE_DECL(T, C_DT_FLOAT, C_DT_FLOAT16));
