// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <string>

#include "isa/machine/cross_core.h"
#include "isa/machine/sequencer.h"

namespace vinci::models {

class BlockLog;

// One block of a kernel launch on its way to a core; in a MIX task the part of it that the core runs.
struct Block {
  const isa::Code* code = nullptr;
  isa::Launch launch;
  std::string task = {};                            // for messages
  std::string where = {};                           // the same: "block 3"
  std::shared_ptr<isa::CrossCoreFlags> cross = {};  // of the task
  isa::TaskCore self = {};
  u32 task_id = 0;          // for the checker
  u64 prepare = 0;          // cycles from the start of the block to the first instruction
  BlockLog* log = nullptr;  // keeps why its instructions began when they did; may be null
};

}  // namespace vinci::models
