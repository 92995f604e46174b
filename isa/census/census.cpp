// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/census/census.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isa/table/exec.h"

namespace vinci::isa {

namespace {

// What an event may have left behind: not finite, the largest value of a type of 16 or 32 bits, or zero.
bool is_special(double v) {
  const double magnitude = std::fabs(v);
  return !std::isfinite(v) || magnitude == 0 || magnitude == 65504 || magnitude == std::numeric_limits<float>::max() ||
         magnitude == 0x1.fep127;
}

}  // namespace

TaskCensus& Census::of(u32 task) {
  const auto [place, is_new] = tasks.try_emplace(task);
  if (is_new) place->second.sequence = tasks.size();
  return place->second;
}

SiteCensus& CensusPoint::site() {
  if (site_ == nullptr) {
    site_ = &task_.sites[id_];
    ++site_->executions;
  }
  return *site_;
}

bool CensusPoint::is_first(NumericEvent event, u64 element) {
  const usize e = static_cast<usize>(event);
  const Occurrence& first = site().first[e];
  return site().counts[e] == 0 || moment_ < first.moment || (moment_ == first.moment && element < first.element);
}

void CensusPoint::record(NumericEvent event, u64 element, const Result& result) {
  bool special = false;
  for (u8 i = 0; i < result.operand_count; ++i)
    special |= is_special(result.operands[i].value);
  const bool caused = special && cause_ != 0;
  if (!caused && leaves_special(event)) born_ |= bit(event);
  if (!is_first(event, element)) return;
  Occurrence& first = site().first[static_cast<usize>(event)];
  static_cast<Result&>(first) = result;
  first.moment = moment_;
  first.core = core_;
  first.element = element;
  first.cause = caused ? cause_ : 0;
}

void CensusPoint::add(NumericEvents events, u64 element, std::span<const NumericOperand> operands, double result) {
  for (usize e = 0; e < kNumericEvents; ++e) {
    if ((events >> e & 1) == 0) continue;
    add(static_cast<NumericEvent>(e), 1, element, [&] {
      Result out{.operand_count = static_cast<u8>(operands.size()), .result = result};
      std::ranges::copy(operands, out.operands.begin());
      return out;
    });
  }
}

void CensusPoint::add_status(u64 raised) { note(task_.first_overflow, raised & status::kOverflows); }

void CensusPoint::add_atomic(u64 code) { note(task_.first_atomic, code); }

void CensusPoint::note(FirstOverflow& first, u64 status) const {
  if (status == 0 || (first.status != 0 && !(moment_ < first.moment))) return;
  first = {.moment = moment_, .site = id_, .status = status};
}

}  // namespace vinci::isa
