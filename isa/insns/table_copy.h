// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/move.h"

// L1 to the bias table and to the FIXPIPE buffer. Source of operands and semantics: published Ascend C documentation of
// DataCopy (L1 to BiasTable Buffer, L1 to Fixpipe Buffer); the pipes: the documented list of interfaces by pipe.
namespace vinci::isa::insn {

inline constexpr u32 kBiasUnit = 64;  // bytes of a unit of lenBurst and dstGap
inline constexpr u32 kFixpipeUnit = 128;

// nBurst pieces of lenBurst units; convControl widens f16 to f32, so a piece takes twice its bytes in the table.
struct CopyCbufToBt {
  struct Args {
    u32 dst, src;
    u16 nBurst, lenBurst, srcGap, dstGap;
    u8 convControl;
  };
  static constexpr std::string_view name = "copy_cbuf_to_bt";
  static constexpr std::string_view doc = "L1 to the bias table, as it is or widened from f16 to f32";
  static constexpr u16 opcode = 0x11b;
  static constexpr ArchSet archs = kSplitArchs;
  static constexpr CostClass cost = "move.l1_to_bt"_cost;
  static constexpr std::tuple fields{
      address_in<&Args::dst>(BufId::BT, "dst"),
      address_in<&Args::src>(BufId::L1, "src"),
      Field<&Args::convControl>{"convControl", 1, OperandKind::value, "1: f16 to f32"},
      Field<&Args::nBurst>{"nBurst", 12, OperandKind::value, "pieces"},
      Field<&Args::lenBurst>{"lenBurst", 16, OperandKind::value, "64 B of source of a piece"},
      Field<&Args::srcGap>{"srcGap", 16, OperandKind::value, "32 B blocks skipped after a piece"},
      Field<&Args::dstGap>{"dstGap", 16, OperandKind::value, "64 B units skipped after a piece"}};
  static PipeId pipe(const Args&, Arch) { return PipeId::MTE1; }
  static constexpr u32 source_bytes(const Args& x) { return u32{x.lenBurst} * kBiasUnit; }
  static constexpr u32 table_bytes(const Args& x) { return source_bytes(x) * (x.convControl != 0 ? 2 : 1); }
  static Work work(const Args& x, const Spr&) { return {.bytes = u64{x.nBurst} * table_bytes(x), .bursts = x.nBurst}; }
  static Footprint footprint(const Args& x, const Spr&, Arch);  // isa/sem/table_copy.cpp
  static void execute(const Args& x, ExecContext& c);           // isa/sem/table_copy.cpp
};

struct CopyCbufToFbuf {
  struct Args {
    u32 dst, src;
    u16 nBurst, lenBurst, srcGap, dstGap;
  };
  static constexpr std::string_view name = "copy_cbuf_to_fbuf";
  static constexpr std::string_view doc = "L1 to the FIXPIPE buffer: parameters of quantisation and relu by channel";
  static constexpr u16 opcode = 0x11c;
  static constexpr ArchSet archs = kSplitArchs;
  static constexpr CostClass cost = "move.l1_to_fb"_cost;
  static constexpr std::tuple fields{
      address_in<&Args::dst>(BufId::FB, "dst"),
      address_in<&Args::src>(BufId::L1, "src"),
      Field<&Args::nBurst>{"nBurst", 12, OperandKind::value, "0 or 1: public sources disagree on what the gaps are"},
      Field<&Args::lenBurst>{"lenBurst", 16, OperandKind::value, "128 B units"},
      Field<&Args::srcGap>{"srcGap", 16, OperandKind::value, "no effect"},
      Field<&Args::dstGap>{"dstGap", 16, OperandKind::value, "no effect"}};
  static PipeId pipe(const Args&, Arch) { return PipeId::FIX; }
  static constexpr u32 bytes(const Args& x) { return x.nBurst == 0 ? 0 : u32{x.lenBurst} * kFixpipeUnit; }
  static Work work(const Args& x, const Spr&) { return {.bytes = bytes(x), .bursts = x.nBurst}; }
  static Footprint footprint(const Args& x, const Spr&, Arch);  // isa/sem/table_copy.cpp
  static void execute(const Args& x, ExecContext& c);           // isa/sem/table_copy.cpp
};

using TableCopyInsns = InsnList<CopyCbufToBt, CopyCbufToFbuf>;

}  // namespace vinci::isa::insn
