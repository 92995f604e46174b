// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/table/insn.h"

// Synchronisation between the pipes of one core. Source: mindspore-ai/akg inject_sync (Apache-2.0), AscendNPU-IR.
namespace vinci::isa::insn {

// An instruction that a compiler has inserted does what one of the program does; reports tell them apart.
inline constexpr std::string_view kInsertedDoc = "1: added by automatic synchronisation (docs/auto-sync.md)";

struct FlagBase {
  struct Args {
    PipeId src, dst;
    u8 event;
    u8 inserted = 0;
  };
  static constexpr ArchSet archs = kAllArchs;
  static constexpr CostClass cost = "scalar.sync"_cost;
  static constexpr std::tuple fields{
      Field<&Args::src>{"src", 4, OperandKind::pipe, "pipe that sets"},
      Field<&Args::dst>{"dst", 4, OperandKind::pipe, "pipe that waits"},
      Field<&Args::event>{"event", 6, OperandKind::event, "EVENT_ID0.. of this pair of pipes"},
      Field<&Args::inserted>{"inserted", 1, OperandKind::value, kInsertedDoc, true, 0}};
};

// The flag (src, dst, event) goes up when everything that src was given before has finished; src does not stall.
struct SetFlag : FlagBase {
  static constexpr Role role = Role::set_flag;
  static constexpr std::string_view name = "set_flag";
  static constexpr std::string_view doc = "raise flag (src, dst, event) when all earlier work of src has finished";
  static constexpr u16 opcode = 0x100;
  static PipeId pipe(const Args& x, Arch) { return x.src; }
};

// dst stops until the flag (src, dst, event) is up, then takes it down and goes on.
struct WaitFlag : FlagBase {
  static constexpr Role role = Role::wait_flag;
  static constexpr std::string_view name = "wait_flag";
  static constexpr std::string_view doc = "stop dst until flag (src, dst, event) is up, then lower it";
  static constexpr u16 opcode = 0x101;
  static PipeId pipe(const Args& x, Arch) { return x.dst; }
};

// Everything of `pipe` issued before finishes before anything after starts; PIPE_ALL stops the scalar unit for all.
struct PipeBarrier {
  struct Args {
    PipeId which;
    u8 inserted = 0;
  };
  static constexpr Role role = Role::pipe_barrier;
  static constexpr std::string_view name = "pipe_barrier";
  static constexpr std::string_view doc = "later work of the pipe starts when all its earlier work has finished";
  static constexpr u16 opcode = 0x102;
  static constexpr ArchSet archs = kAllArchs;
  static constexpr CostClass cost = "scalar.sync"_cost;
  static constexpr std::tuple fields{Field<&Args::which>{"pipe", 4, OperandKind::pipe, "PIPE_ALL: every pipe"},
                                     Field<&Args::inserted>{"inserted", 1, OperandKind::value, kInsertedDoc, true, 0}};
  static PipeId pipe(const Args& x, Arch) { return x.which; }
};

// A flag for other cores of the task goes up when everything that `pipe` was given before has finished.
struct FftsCrossCoreSync {
  struct Args {
    u64 config;
    PipeId which;
  };
  static constexpr Role role = Role::cross_set;
  static constexpr std::string_view name = "ffts_cross_core_sync";
  static constexpr std::string_view doc = "set a flag for other cores when all earlier work of the pipe has finished";
  static constexpr u16 opcode = 0x103;
  static constexpr ArchSet archs = kSplitArchs;
  static constexpr CostClass cost = "scalar.cross_core"_cost;
  static constexpr std::tuple fields{
      Field<&Args::which>{"pipe", 4, OperandKind::pipe, "any but PIPE_S and PIPE_ALL"},
      Field<&Args::config>{"config", 64, OperandKind::value,
                           "0x1 | mode << 4 | flagId << 8; mode 0: all AICs or all AIVs of the task, 1: the AIVs of a "
                           "block, 2: AIC and AIVs of a block"}};
  static PipeId pipe(const Args& x, Arch) { return x.which; }
};

// Stops the scalar unit, and so all further issue, until the counter of the flag in this core is not 0; decrements it.
struct WaitFlagDev {
  struct Args {
    u8 flag;
  };
  static constexpr Role role = Role::cross_wait;
  static constexpr std::string_view name = "wait_flag_dev";
  static constexpr std::string_view doc = "stop issuing until other cores have set the flag, then count it down";
  static constexpr u16 opcode = 0x104;
  static constexpr ArchSet archs = kSplitArchs;
  static constexpr CostClass cost = "scalar.sync"_cost;
  static constexpr std::tuple fields{Field<&Args::flag>{"flagId", 4}};
  static PipeId pipe(const Args&, Arch) { return PipeId::S; }
};

using SyncInsns = InsnList<SetFlag, WaitFlag, PipeBarrier, FftsCrossCoreSync, WaitFlagDev>;

}  // namespace vinci::isa::insn
