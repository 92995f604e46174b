// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insn.h"

// Synchronisation between the pipes of one core. Source: mindspore-ai/akg inject_sync (Apache-2.0), AscendNPU-IR.
namespace vinci::isa::insn {

struct FlagBase {
  struct Args {
    PipeId src, dst;
    u8 event;
  };
  static constexpr ArchSet archs = kAllArchs;
  static constexpr CostClass cost = CostClass::sync;
  static constexpr std::tuple fields{
      Field<&Args::src>{"src", 4, OperandKind::pipe, "pipe that sets"},
      Field<&Args::dst>{"dst", 4, OperandKind::pipe, "pipe that waits"},
      Field<&Args::event>{"event", 6, OperandKind::event, "EVENT_ID0.. of this pair of pipes"}};
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
  };
  static constexpr Role role = Role::pipe_barrier;
  static constexpr std::string_view name = "pipe_barrier";
  static constexpr std::string_view doc = "later work of the pipe starts when all its earlier work has finished";
  static constexpr u16 opcode = 0x102;
  static constexpr ArchSet archs = kAllArchs;
  static constexpr CostClass cost = CostClass::sync;
  static constexpr std::tuple fields{Field<&Args::which>{"pipe", 4, OperandKind::pipe, "PIPE_ALL: every pipe"}};
  static PipeId pipe(const Args& x, Arch) { return x.which; }
};

using SyncInsns = InsnList<SetFlag, WaitFlag, PipeBarrier>;

}  // namespace vinci::isa::insn
