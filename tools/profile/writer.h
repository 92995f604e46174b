// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "models/runtime/task_sink.h"

namespace vinci::profile {

// One file of a profile. Gets the tasks in the order of their start.
class Writer : public models::TaskSink {
 public:
  // The file is whole and has its name when this returns; without it, it does not appear.
  virtual void commit() = 0;
};

}  // namespace vinci::profile
