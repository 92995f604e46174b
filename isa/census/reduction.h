// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/census/census.h"

namespace vinci::isa {

// Where a reduction in memory reports its results: those of SDMA and of collectives.
struct ReductionCensus {
  CensusPoint& point;
  u64 element = 0;  // of the first result
};

}  // namespace vinci::isa
