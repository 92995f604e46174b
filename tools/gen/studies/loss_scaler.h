// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/base/types.h"

namespace vinci::gen {

// When a loss scale grows and shrinks.
struct LossScaleRule {
  double init = 65536;
  u32 growth_interval = 0;  // steps without overflow until it grows; 0: it never changes
  double growth = 2;
  double backoff = 0.5;
  u32 tolerated = 1;  // overflows since it last changed until it shrinks
};

inline constexpr LossScaleRule kFixedScale{.init = 4096};
// Source: PyTorch documentation of GradScaler.
inline constexpr LossScaleRule kTorchGradScaler{.init = 65536, .growth_interval = 2000};
// Source: CANN documentation of ExponentialUpdateLossScaleManager with the values of its BERT sample.
inline constexpr LossScaleRule kTfNpuExponential{.init = 4294967296, .growth_interval = 1000, .tolerated = 2};
// Source: MindSpore documentation of DynamicLossScaleManager.
inline constexpr LossScaleRule kMindSporeDynamic{.init = 16777216, .growth_interval = 2000};

// The scale of a training run. A step that overflows is skipped by the optimizer.
class LossScaler {
 public:
  explicit LossScaler(const LossScaleRule& rule) : rule_(rule), scale_(rule.init) {}

  double scale() const { return scale_; }

  // After each step.
  void update(bool overflow) {
    if (rule_.growth_interval == 0) return;
    if (overflow) {
      clean_ = 0;
      if (++overflows_ >= rule_.tolerated) change(rule_.backoff);
    } else if (++clean_ == rule_.growth_interval) {
      change(rule_.growth);
    }
  }

 private:
  void change(double factor) {
    scale_ *= factor;
    clean_ = 0;
    overflows_ = 0;
  }

  LossScaleRule rule_;
  double scale_;
  u32 clean_ = 0, overflows_ = 0;
};

}  // namespace vinci::gen
