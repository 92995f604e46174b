// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insns/scalar.h"

// Special registers: what the scalar unit sets for instructions that are issued afterwards, and what it reads of those
// that have run. Source: mindspore-ai/akg (Apache-2.0), published documentation of SetCtrlSpr, SetAtomicAdd,
// SetLoadData*, SetFixpipe*, GetMrgSortResult, GetReduce*.
namespace vinci::isa::insn {

// <register> = value
template <Text Name, u16 Opcode, SprId Register, ArchSet Archs, Text Doc>
struct SetSpr : ScalarBase {
  struct Args {
    u64 value;
  };
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = Archs;
  static constexpr std::tuple fields{Field<&Args::value>{"value", 64}};
  static void execute(const Args& x, ScalarContext& c) {
    if (c.spr[Register] != x.value) c.spr.parameters.write()[Register] = x.value;
  }
};

// CTRL = CTRL & ~Clear | Set
template <Text Name, u16 Opcode, u64 Clear, u64 Set, ArchSet Archs, Text Doc>
struct ChangeCtrl : ScalarBase {
  struct Args {};
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = Archs;
  static constexpr std::tuple<> fields{};
  static void execute(const Args&, ScalarContext& c) { c.spr.ctrl = (c.spr.ctrl & ~Clear) | Set; }
};

// Xd = what the pipes have left behind by now; a run without data cannot know it.
template <Text Name, u16 Opcode, u64 ResultRegisters::*Register, ArchSet Archs, Text Doc>
struct GetResult : ScalarBase {
  struct Args {
    u8 rd;
  };
  static constexpr std::string_view name = Name.view();
  static constexpr std::string_view doc = Doc.view();
  static constexpr u16 opcode = Opcode;
  static constexpr ArchSet archs = Archs;
  static constexpr bool reads_results = true;
  static constexpr std::tuple fields{Field<&Args::rd>{"rd", 5, OperandKind::reg_dst}};
  static void execute(const Args& x, ScalarContext& c) {
    c.x[x.rd] = c.results.*Register;
    c.loaded_unknown = c.mem == nullptr;
  }
};

using SetFmatrix = SetSpr<"set_fmatrix", 0x080, SprId::fmatrix, kAllArchs,
                          "feature map of img2col: W [15:0], H [31:16], padding left [39:32], right [47:40], top "
                          "[55:48], bottom [63:56]">;
using SetFmatrixB = SetSpr<"set_fmatrix_b", 0x081, SprId::fmatrix_b, kSecondArchs,
                           "feature map of img2colv2 with fmatrixCtrl = 1, as set_fmatrix">;
using SetPadding = SetSpr<"set_padding", 0x082, SprId::padding, kAllArchs,
                          "bits that img2col reads outside of the feature map; the low 8, 16 or 32 of the element">;
using SetL3dRpt = SetSpr<"set_l3d_rpt", 0x083, SprId::l3d_rpt, kSecondArchs,
                         "repeats of img2colv2: stride [15:0], time [23:16], mode [24]">;
using SetL13dSize =
    SetSpr<"set_l1_3d_size", 0x084, SprId::l1_3d_size, kAllArchs,
           "address of L1 at which img2col goes on at 0, in 32 B blocks for v1 and bytes for v2; 0: none">;
using SetFcol2img = SetSpr<"set_fcol2img", 0x085, SprId::fcol2img, kJointArchs, "feature map of col2img, as fmatrix">;
using SetL0SetValue =
    SetSpr<"set_l0_set_value", 0x086, SprId::l0_set_value, kAllArchs, "value of the fill instructions">;
using SetDeqscale =
    SetSpr<"set_deqscale", 0x087, SprId::deqscale, kAllArchs,
           "scale of vconv_deq: f16 [15:0]; of the others f32 [31:0], shift - 1 [35:32], shift first [36], "
           "offset [45:37], signed result [46], relu [47]; or of a table in UB: address / 32 [14:0], relu [15]">;
using SetQuantPre =
    SetSpr<"set_quant_pre", 0x088, SprId::quant_pre, kSplitArchs,
           "FIXPIPE: scale f32 [31:0], shift - 1 [35:32], shift first [36], offset [45:37], signed [46]">;
using SetFpc = SetSpr<"set_fpc", 0x089, SprId::fpc, kSplitArchs,
                      "FIXPIPE: addresses in FB of the relu table / 64 [7:0] and the quantisation table / 128 [15:8]">;
using SetNdPara = SetSpr<"set_nd_para", 0x08a, SprId::nd_para, kSplitArchs,
                         "FIXPIPE NZ2ND: ndNum [15:0], srcNdStride / 1024 B [31:16], dstNdStride in elements [47:32]">;
using SetLreluAlpha =
    SetSpr<"set_lrelu_alpha", 0x08b, SprId::lrelu_alpha, kSplitArchs, "FIXPIPE: slope of the leaky relu, f32 bits">;
using SetReluAlpha = SetSpr<"set_relu_alpha", 0x08c, SprId::relu_alpha, kSecondArchs, "slope of relu, f16 bits">;
using SetMovPadVal =
    SetSpr<"set_mov_pad_val", 0x08d, SprId::mov_pad_val, kSplitArchs, "padding value of copy_gm_to_*_align">;
using SetRpnOffset =
    SetSpr<"set_rpn_offset", 0x08e, SprId::rpn_offset, kJointArchs, "offset of areas of proposals, f16 bits">;

// VA<index> = eight block addresses of UB
struct SetVaRegSb : ScalarBase {
  struct Args {
    u32 a0, a1, a2, a3, a4, a5, a6, a7;
    u8 index;
  };
  static constexpr std::string_view name = "set_va_reg_sb";
  static constexpr std::string_view doc = "VA<index> = eight addresses of blocks in UB, for the scatter_* instructions";
  static constexpr u16 opcode = 0x08f;
  static constexpr std::tuple fields{Field<&Args::index>{"index", 3, OperandKind::value, "0: VA0 .. 7: VA7"},
                                     Field<&Args::a0>{"a0", 24, OperandKind::value, "byte address, whole blocks"},
                                     Field<&Args::a1>{"a1", 24},
                                     Field<&Args::a2>{"a2", 24},
                                     Field<&Args::a3>{"a3", 24},
                                     Field<&Args::a4>{"a4", 24},
                                     Field<&Args::a5>{"a5", 24},
                                     Field<&Args::a6>{"a6", 24},
                                     Field<&Args::a7>{"a7", 24}};
  static void execute(const Args& x, ScalarContext& c) {
    const std::array addresses{x.a0, x.a1, x.a2, x.a3, x.a4, x.a5, x.a6, x.a7};
    VaRegister va{};
    for (usize i = 0; i < va.size(); ++i) {
      if (addresses[i] % 32 != 0) {
        fail_issue(FaultId::misaligned_access, "unaligned access: operand a{} = {:#x} is no multiple of 32 bytes", i,
                   addresses[i]);
      }
      va[i] = static_cast<u16>(addresses[i] / 32);
    }
    c.spr.parameters.write().va[x.index] = va;
  }
};

struct SetVectorMaskDup : ScalarBase {
  struct Args {
    u64 mask;
  };
  static constexpr std::string_view name = "set_vector_mask_dup";
  static constexpr std::string_view doc = "the same 64 bits for both halves of the vector mask";
  static constexpr u16 opcode = 0x090;
  static constexpr bool sets_mask = true;
  static constexpr std::tuple fields{Field<&Args::mask>{"mask", 64}};
  static void execute(const Args& x, ScalarContext& c) { c.spr.vector_mask = {x.mask, x.mask}; }
};

using SetMaskNorm = ChangeCtrl<"set_mask_norm", 0x091, ctrl::kCounterMode, 0, kSecondArchs,
                               "the vector mask has a bit for each lane (CTRL[56] = 0)">;
using SetMaskCount =
    ChangeCtrl<"set_mask_count", 0x092, 0, ctrl::kCounterMode, kSecondArchs,
               "the low 32 bits of the vector mask are the number of elements of a whole instruction (CTRL[56] = 1); "
               "a block starts with all bits set, so set_vector_mask comes first">;

// What writes to global memory do: CTRL[10:9] 0 add, 1 max, 2 min; CTRL[8:6] 0 off, else the type.
using SetAtomicNone = ChangeCtrl<"set_atomic_none", 0x093, ctrl::kAtomicType | ctrl::kAtomicOp, 0, kAllArchs,
                                 "writes to global memory replace what is there">;
using SetAtomicAdd = ChangeCtrl<"set_atomic_add", 0x094, ctrl::kAtomicOp, 0, kAllArchs,
                                "writes to global memory add, once a type is set">;
using SetAtomicMax = ChangeCtrl<"set_atomic_max", 0x095, ctrl::kAtomicOp, u64{1} << 9, kSplitArchs,
                                "writes to global memory keep the larger value, once a type is set">;
using SetAtomicMin = ChangeCtrl<"set_atomic_min", 0x096, ctrl::kAtomicOp, u64{2} << 9, kSplitArchs,
                                "writes to global memory keep the smaller value, once a type is set">;
template <Text Name, u16 Opcode, AtomicType Type, ArchSet Archs, Text Doc>
using SetAtomicType = ChangeCtrl<Name, Opcode, ctrl::kAtomicType, static_cast<u64>(Type) << 6, Archs, Doc>;
using SetAtomicF32 =
    SetAtomicType<"set_atomic_f32", 0x097, AtomicType::f32, kAllArchs, "type of atomic writes to global memory: f32">;
using SetAtomicF16 = SetAtomicType<"set_atomic_f16", 0x098, AtomicType::f16, kSecondArchs,
                                   "type of atomic writes to global memory: f16">;
using SetAtomicS16 = SetAtomicType<"set_atomic_s16", 0x099, AtomicType::s16, kSecondArchs,
                                   "type of atomic writes to global memory: s16">;
using SetAtomicS32 =
    SetAtomicType<"set_atomic_s32", 0x09a, AtomicType::s32, kSplitArchs, "type of atomic writes to global memory: s32">;
using SetAtomicS8 =
    SetAtomicType<"set_atomic_s8", 0x09b, AtomicType::s8, kSplitArchs, "type of atomic writes to global memory: s8">;
using SetAtomicBf16 = SetAtomicType<"set_atomic_bf16", 0x09c, AtomicType::bf16, kSplitArchs,
                                    "type of atomic writes to global memory: bf16">;

using GetVms4Sr = GetResult<"get_vms4_sr", 0x0a0, &ResultRegisters::vms4_sr, kAllArchs,
                            "Xd = elements that the last vmrgsort4 took of each list: 13 bits each, on c220 16">;
using GetMaxMinCnt =
    GetResult<"get_max_min_cnt", 0x0a1, &ResultRegisters::max_min_cnt, kAllArchs,
              "Xd = value [31:0] and index [63:32] of the extremum over all repeats of the last vcmax or vcmin">;
using GetAccVal = GetResult<"get_acc_val", 0x0a2, &ResultRegisters::acc_val, kAllArchs,
                            "Xd = sum over all repeats of the last vcadd with mode 1, as bits of its type">;
using GetRsvdCnt = GetResult<"get_rsvd_cnt", 0x0a3, &ResultRegisters::rsvd_cnt, kSecondArchs,
                             "Xd = elements that the last vreduce kept">;

using SetFftsBaseAddr = SetSpr<"set_ffts_base_addr", 0x0a4, SprId::ffts_base_addr, kSplitArchs,
                               "where cross-core flags live; any value but 0, and before ffts_cross_core_sync">;

using SprInsns =
    InsnList<SetFmatrix, SetFmatrixB, SetPadding, SetL3dRpt, SetL13dSize, SetFcol2img, SetL0SetValue, SetDeqscale,
             SetQuantPre, SetFpc, SetNdPara, SetLreluAlpha, SetReluAlpha, SetMovPadVal, SetRpnOffset, SetVaRegSb,
             SetVectorMaskDup, SetMaskNorm, SetMaskCount, SetAtomicNone, SetAtomicAdd, SetAtomicMax, SetAtomicMin,
             SetAtomicF32, SetAtomicF16, SetAtomicS16, SetAtomicS32, SetAtomicS8, SetAtomicBf16, GetVms4Sr,
             GetMaxMinCnt, GetAccVal, GetRsvdCnt, SetFftsBaseAddr>;

}  // namespace vinci::isa::insn
