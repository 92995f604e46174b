// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/studies/study.h"

namespace vinci::studies {

// Of f16 between NHWC and NC1HWC0 with 64 channels, there and back: the time of scalar loops by that of the vector
// unit. `mebibytes`: of a tensor.
double transdata_speedup(const Study& study, u64 mebibytes);

}  // namespace vinci::studies
