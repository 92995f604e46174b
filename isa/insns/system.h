// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/scalar.h"

// What the scalar unit knows of the core around it, and what it does to caches. Source: published documentation of
// GetSubBlockIdx, asc_get_sub_block_num, GetSystemCycle, Trap, DataSyncBarrier, DataCacheCleanAndInvalid.
namespace vinci::isa::insn {

namespace system {
inline u64 subblockid(const ScalarContext& c) { return c.subblock_idx; }
inline u64 subblockdim(const ScalarContext& c) { return c.subblock_num; }
}  // namespace system

using GetSubblockid = Get<"get_subblockid", 0x060, system::subblockid, kSplitArchs,
                          "Xd = index of this AIV within its block of a MIX task; 0 on the AIC and elsewhere">;
using GetSubblockdim = Get<"get_subblockdim", 0x061, system::subblockdim, kSplitArchs,
                           "Xd = AIVs of a block of a MIX task; 1 on the AIC and elsewhere">;

struct GetSysCnt : ScalarBase {
  struct Args {
    u8 rd;
  };
  static constexpr std::string_view name = "get_sys_cnt";
  static constexpr std::string_view doc =
      "Xd = system counter: simulated time in units of core.sys_cnt.frequency; in mode functional, the scalar "
      "instructions of this core so far";
  static constexpr u16 opcode = 0x062;
  static constexpr bool reads_results = true;
  static constexpr std::tuple fields{Field<&Args::rd>{"rd", 5, OperandKind::reg_dst}};
  static void execute(const Args& x, ScalarContext& c) { c.x[x.rd] = c.sys_cnt; }
};

// Which bits it shows is not public; here those that the overflow dump of the runtime does.
struct GetOverflowStatus : ScalarBase {
  struct Args {
    u8 rd;
  };
  static constexpr std::string_view name = "get_overflow_status";
  static constexpr std::string_view doc = "Xd = bits 5, 7, 8 and 10 of STATUS: what the overflow dump reports";
  static constexpr u16 opcode = 0x063;
  static constexpr bool reads_results = true;
  static constexpr std::tuple fields{Field<&Args::rd>{"rd", 5, OperandKind::reg_dst}};
  static void execute(const Args& x, ScalarContext& c) {
    c.x[x.rd] = c.status & status::kOverflows;
    c.loaded_unknown = c.mem == nullptr;
  }
};

struct Trap : ScalarBase {
  struct Args {
    u64 code;
  };
  static constexpr std::string_view name = "trap";
  static constexpr std::string_view doc = "abort the task with an error that shows the code";
  static constexpr u16 opcode = 0x064;
  static constexpr std::tuple fields{Field<&Args::code>{"code", 64, OperandKind::value, "any number", true, 0}};
  static void execute(const Args& x, ScalarContext&) {
    fail(Fault::Program, "the kernel trapped with code {:#x}{}", x.code, meaning(x.code));
  }
  // Codes of the address checks that op_debug_config=oom compiles into kernels.
  static constexpr std::string_view meaning(u64 code) {
    return code == 0x5a5a0001 ? " (out of bounds: read)" : code == 0x5a5a0002 ? " (out of bounds: write)" : "";
  }
};

// The accesses of the scalar unit reach memory in order and at once, and its caches are not modelled: cleaning,
// invalidating, prefetching and waiting for accesses cost their issue and change nothing.

struct Dsb : ScalarBase {
  struct Args {
    u8 mode;
  };
  static constexpr std::string_view name = "dsb";
  static constexpr std::string_view doc =
      "wait for the accesses of the scalar unit; they are always in order here, so it only costs its issue";
  static constexpr u16 opcode = 0x068;
  static constexpr CostClass cost = "scalar.sync"_cost;
  static constexpr std::tuple fields{
      Field<&Args::mode>{"mode", 2, OperandKind::value, "0 DSB_ALL, 1 DSB_DDR, 2 DSB_UB, 3 DSB_SEQ"}};
  static void execute(const Args&, ScalarContext&) {}
};

struct Dcci : ScalarBase {
  struct Args {
    u64 address;
    u8 entire, dst;
  };
  static constexpr std::string_view name = "dcci";
  static constexpr std::string_view doc =
      "clean and invalidate the data cache, which is not modelled: no effect on data, only its issue costs";
  static constexpr u16 opcode = 0x069;
  static constexpr ArchSet archs = kSecondArchs;
  static constexpr std::tuple fields{
      bytes_in<&Args::address>(BufId::GM, "address"),
      Field<&Args::entire>{"entire", 1, OperandKind::value, "0 SINGLE_CACHE_LINE, 1 ENTIRE_DATA_CACHE"},
      Field<&Args::dst>{"dst", 2, OperandKind::value,
                        "0 CACHELINE_ALL, 1 CACHELINE_UB, 2 CACHELINE_OUT, 3 "
                        "CACHELINE_ATOMIC",
                        true, 0}};
  static void execute(const Args&, ScalarContext&) {}
};

struct DcPreload : ScalarBase {
  struct Args {
    u64 address;
    i64 offset;
  };
  static constexpr std::string_view name = "dc_preload";
  static constexpr std::string_view doc =
      "prefetch a line into the data cache, which is not modelled: only its issue costs";
  static constexpr u16 opcode = 0x06a;
  static constexpr ArchSet archs = kSecondArchs;
  static constexpr std::tuple fields{bytes_in<&Args::address>(BufId::GM, "address"),
                                     Field<&Args::offset>{"offset", 64, OperandKind::value, "bytes", true, 0}};
  static void execute(const Args&, ScalarContext&) {}
};

struct Preload : ScalarBase {
  struct Args {
    u64 address, length;
  };
  static constexpr std::string_view name = "preload";
  static constexpr std::string_view doc =
      "prefetch into the instruction cache, which is not modelled: only its issue costs";
  static constexpr u16 opcode = 0x06b;
  static constexpr ArchSet archs = kSecondArchs;
  static constexpr std::tuple fields{bytes_in<&Args::address>(BufId::GM, "address"),
                                     Field<&Args::length>{"length", 32, OperandKind::value, "lines", true, 1}};
  static void execute(const Args&, ScalarContext&) {}
};

// Ours: cycles of the scalar unit for work that no instruction of the program describes. A traced kernel
// (isa/machine/native_core.h) runs its scalar code as native code of the host, which the trace does not record. A nop
// carries the estimated cost of that code.
struct Nop : ScalarBase {
  struct Args {
    u64 cycles;
    u64 counted = 0;
    u64 awaited = 0;
  };
  static constexpr std::string_view name = "nop";
  static constexpr std::string_view doc =
      "the scalar unit is busy for so many cycles; not a CCE instruction: scalar code that is not traced";
  static constexpr u16 opcode = 0x06c;
  static constexpr std::tuple fields{
      Field<&Args::cycles>{"cycles", 32, OperandKind::value, "at least 1", true, 1},
      Field<&Args::counted>{"counted", 32, OperandKind::value,
                            "of them, those of a program's own code (docs/front-end.md); only reports tell", true, 0},
      Field<&Args::awaited>{"awaited", 1, OperandKind::value,
                            "1: a loop of the program waits for what the load before has read (docs/checker.md)", true,
                            0}};
  static void execute(const Args&, ScalarContext&) {}
};

// Ours: remarks, which a front end leaves for the checker. They take no time, and do not count as instructions.
struct Remark : ScalarBase {
  static constexpr bool remark = true;
};

// A buffer that the program has made in a memory of its core. What begins in it and goes past its end is a finding.
struct LocalBuffer : Remark {
  struct Args {
    u8 memory;
    u64 address, bytes;
  };
  static constexpr std::string_view name = "local_buffer";
  static constexpr std::string_view doc =
      "from here on these bytes are one buffer of the program, in place of all that it overlaps; ours, a remark for "
      "the "
      "checker";
  static constexpr u16 opcode = 0x06d;
  static constexpr std::tuple fields{
      Field<&Args::memory>{"memory", 4, OperandKind::value, "1 L1, 2 L0A, 3 L0B, 4 L0C, 5 UB, 6 BT, 7 FB"},
      Field<&Args::address>{"address", 24, OperandKind::value, "its first byte"},
      Field<&Args::bytes>{"bytes", 25, OperandKind::value, "its size; 0: the memory has no buffers any more"}};
  static void execute(const Args&, ScalarContext&) {}
};

// A value that a call of an API may not have, and that leaves no trace in the instructions of the call.
struct Misuse : Remark {
  enum What : u8 { mask = 1, cross_core_flag = 2, repeats = 3 };
  struct Args {
    u8 what;
    u64 value, limit;
  };
  static constexpr std::string_view name = "misuse";
  static constexpr std::string_view doc =
      "a call of an API has a value beyond its limit, which its instructions do not show; ours, a remark for the "
      "checker";
  static constexpr u16 opcode = 0x06e;
  static constexpr std::tuple fields{
      Field<&Args::what>{"what", 4, OperandKind::value, "1 elements of a mask, 2 flag between cores, 3 repeats"},
      Field<&Args::value>{"value", 32, OperandKind::value, "the value"},
      Field<&Args::limit>{"limit", 32, OperandKind::value, "the most that it may be"}};
  static void execute(const Args&, ScalarContext&) {}
};

using SystemInsns = InsnList<GetSubblockid, GetSubblockdim, GetSysCnt, GetOverflowStatus, Trap, Dsb, Dcci, DcPreload,
                             Preload, Nop, LocalBuffer, Misuse>;

}  // namespace vinci::isa::insn
