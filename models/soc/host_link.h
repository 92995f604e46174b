// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>

#include "models/soc/engines.h"

namespace vinci::models {

// For host memory outside of the simulated chip: carries out what a copy between host and device does to memory.
class HostLink {
 public:
  virtual ~HostLink() = default;
  // `job` says when the link itself would begin and be done. `done` is called once all bytes are where they belong,
  // with the true times, which may be later; the end may be still to come.
  virtual void copy(const task::MemcpyAsync& op, const Engines::Job& job,
                    std::function<void(const Engines::Job&)> done) = 0;
};

}  // namespace vinci::models
