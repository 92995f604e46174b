// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "models/core/copy_rule.h"

namespace vinci::models {

// Moves data from global memory into the core.
class Mte2 final : public Unit {
 public:
  explicit Mte2(CopyRule rule) : rule_(std::move(rule)) {}

  Cycles begin(const isa::Issued& inst, const Resolved& work, const Moment& now) override {
    return rule_.begin(inst, work, now);
  }
  MemoryPort* port() override { return &rule_.port(); }

 private:
  CopyRule rule_;
};

}  // namespace vinci::models
