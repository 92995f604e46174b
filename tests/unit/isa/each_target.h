// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include "isa/base/types.h"

namespace vinci::isa {

// Runs `f` once for each vector instruction set that this machine has, the plain one included.
template <class F>
void each_target(F&& f) {
  const i64 all = hwy::SupportedTargets();
  for (i64 left = all; left != 0; left &= left - 1) {
    const i64 target = left & (~left + 1);
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    f();
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace vinci::isa
