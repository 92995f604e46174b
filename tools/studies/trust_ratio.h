// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "tools/studies/study.h"

// Optimizers for large batches, whose rate for a tensor follows from its norms. The kernel is real; a block of its
// launch updates a tensor.
namespace vinci::studies {

// LARS: w -= rate * |w| / |g| * g. LAMB, first step of Adam: u = g / (|g| + epsilon) for each element, then as LARS
// with u in place of g. Momentum and weight decay, which change neither exchange nor ratio, are left out. Sources: You
// et al. 2017 and 2019.
enum class TrustRatio : u8 { lars, lamb };

struct TrustRatioFound {
  double error = 0;   // largest against FP64, in ulps of f32 at the size of the addends
  double scaled = 0;  // the same distance between the updates of two runs whose gradients differ by 2^10
};
TrustRatioFound check_trust_ratio(const Study& study, TrustRatio kind);

}  // namespace vinci::studies
