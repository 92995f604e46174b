// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/machine/cross_core.h"
#include "isa/machine/sequencer.h"
#include "sim/config/chip_config.h"
#include "sim/task/task.h"

namespace vinci::models {

// Which cores the blocks of a launch occupy. A chip has slots for them: a core, or in a MIX task an AIC and the AIVs of
// the same AI core. Timed, untimed and native runs place blocks by it.
class BlockShape {
 public:
  BlockShape(const config::ChipConfig& chip, const task::TaskStream& stream, const task::KernelLaunch& launch);
  // Of native code, which is no kernel of a task stream: blocks of a core of this kind, with so many AIVs in a MIX
  // task.
  BlockShape(const config::ChipConfig& chip, isa::CoreKind kind, u32 blocks, u32 aivs);

  // One of the cores of a slot.
  struct Part {
    isa::CoreKind kind = isa::CoreKind::joint;
    u32 core = 0;    // index among the cores of that kind
    u32 kernel = 0;  // what it runs
    isa::TaskCore self;
  };

  u32 slots() const { return slots_; }
  u32 parts() const { return 1 + aivs_; }
  Part part(u32 slot, u32 block, u32 n) const;
  // What one of the cores of a block is told about the launch; `all` holds arguments and number of blocks.
  isa::Launch launch(const isa::Launch& all, const Part& part) const;
  isa::TaskShape task() const;
  isa::CoreKind kind() const { return kind_; }  // of the first part
  u32 aivs() const { return aivs_; }            // of a block of a MIX task, else 0

 private:
  const task::TaskStream* stream_ = nullptr;  // null: native code
  isa::CoreKind kind_;                        // of the first part
  u32 blocks_, kernel_ = 0, aiv_kernel_ = 0, aivs_;
  u32 slots_;
  u32 aivs_of_core_;  // that an AI core has
};

// "block 3", in a MIX task "block 3, AIV1"
std::string block_text(const isa::TaskCore& core, bool mix);

}  // namespace vinci::models
