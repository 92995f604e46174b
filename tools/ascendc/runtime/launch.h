// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/soc/block_runner.h"
#include "models/soc/block_shape.h"
#include "tools/ascendc/runtime/device.h"
#include "tools/ascendc/runtime/strand.h"

namespace vinci::ascendc {

// One launch of a kernel: runs it natively on all cores of all blocks, and puts together what they issued. A core gives
// way only where it waits for another one; blocks begin as the chip has cores for them.
class TaskRun {
 public:
  TaskRun(Device& device, const Launch& launch, std::function<void()> kernel);
  // Runs it; then the recorder has the task.
  void run(u32 stream);

 private:
  // What one core did for a block.
  struct Section {
    bool ended = false;
    isa::Folder trace;
    std::vector<std::string> sources;  // files of its lines
  };
  // The program of all cores of a kind, to which sections are added in the order of blocks. Equal ones are shared.
  struct Kernel {
    struct Known {
      isa::Folder trace;
      std::vector<std::string> sources;
      u32 entry = 0;
    };
    isa::Folder trace;
    std::vector<std::string> sources;
    std::vector<u32> entries;
    std::unordered_multimap<u64, Known> known;  // by Folder::hash()
    usize kept = 0;                             // stored instructions of these
  };
  struct Part {
    Core* core = nullptr;
    isa::Launch launch;
    isa::TaskCore self;
    std::unique_ptr<Strand> strand;  // null when it has ended
    u32 section = 0;
  };
  struct Slot {
    std::vector<Part> parts;
    BlockState state;
    u32 left = 0;
  };

  void begin(Slot& slot, u32 index, u32 block);
  models::BlockRunner::Turn advance(Slot& slot);
  void execute(Part& part, BlockState& state);
  [[noreturn]] void report_deadlock(const std::vector<std::unique_ptr<Slot>>& slots, u32 not_begun) const;
  void add_ended();
  static void add(Kernel& kernel, Section&& section);
  task::Kernel put_together(task::KernelType type, Kernel& kernel) const;
  u32 parts() const { return shape_.mix() ? 1 + shape_.vector_cores : 1; }

  // So many turns in a row in which cores only read the same again are taken for a deadlock: some seconds of the host.
  static constexpr u32 kIdleTurns = 1 << 18;

  Device& device_;
  const Launch& launch_;
  std::function<void()> kernel_;
  models::BlockShape block_shape_;
  isa::TaskShape shape_;
  isa::CoreKind first_kind_;
  isa::CrossCoreFlags flags_;
  std::vector<Section> sections_;  // by block and part
  u32 idle_turns_ = 0;
  usize next_ = 0;                 // section that is added next
  std::array<Kernel, 2> kernels_;  // of the first core of a block, and of the others
  u64 issued_ = 0;                 // instructions
};

}  // namespace vinci::ascendc
