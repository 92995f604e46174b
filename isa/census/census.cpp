// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/census.h"

#include <algorithm>

#include "isa/exec.h"

namespace vinci::isa {

void CensusPoint::add(NumericEvents events, u64 element, std::span<const NumericOperand> operands, double result) {
  for (usize e = 0; e < kNumericEvents; ++e) {
    if ((events >> e & 1) == 0) continue;
    Occurrence& first = site_.first[e];
    const bool earlier =
        site_.counts[e]++ == 0 || moment_ < first.moment || (moment_ == first.moment && element < first.element);
    if (!earlier) continue;
    first = {.moment = moment_,
             .core = std::string(core_),
             .element = element,
             .operands = {},
             .operand_count = static_cast<u8>(operands.size()),
             .result = result};
    std::ranges::copy(operands, first.operands.begin());
  }
}

void CensusPoint::add_status(u64 raised) { note(task_.first_overflow, raised & status::kOverflows); }

void CensusPoint::add_atomic(u64 code) { note(task_.first_atomic, code); }

void CensusPoint::note(FirstOverflow& first, u64 status) const {
  if (status == 0 || (first.status != 0 && !(moment_ < first.moment))) return;
  first = {.moment = moment_, .site = id_, .status = status};
}

}  // namespace vinci::isa
