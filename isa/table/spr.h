// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "isa/base/enums.h"
#include "isa/base/types.h"

// Special registers that change what an instruction means. The scalar unit writes them; an instruction takes a copy
// along when it is issued, so a later set_* cannot change one that waits in a queue.
namespace vinci::isa {

// Parameter registers with one set_<name> instruction each; the instructions that read them give their fields.
enum class SprId : u8 {
  fmatrix,         // feature map of img2col: W [15:0], H [31:16], padding left, right, top, bottom 8 bit each from 32
  fmatrix_b,       // the same for the second operand (FMATRIX_RIGHT)
  padding,         // bit pattern that img2col reads outside of the feature map
  l3d_rpt,         // repeats of img2colv2: stride [15:0], time [23:16], mode [24]
  l1_3d_size,      // address of L1 at which img2col goes on at 0, in blocks of 32 B (v1) or bytes (v2); 0: unbounded
  fcol2img,        // feature map of col2img, as fmatrix
  l0_set_value,    // value of create_ca_matrix, create_cb_matrix, create_cbuf_matrix
  deqscale,        // of vconv_deq and the like: f16; or a quantisation parameter (isa/sem/quant.h)
  quant_pre,       // FIXPIPE: a quantisation parameter (isa/sem/quant.h)
  fpc,             // FIXPIPE: address of the relu table / 64 [7:0], of the quantisation table / 128 [15:8]
  nd_para,         // FIXPIPE NZ2ND: ndNum [15:0], srcNdStride [31:16], dstNdStride [47:32]
  lrelu_alpha,     // FIXPIPE leaky relu: f32 bits
  relu_alpha,      // slope of the relu of L0C to UB: f16 bits
  mov_pad_val,     // padding value of copy_*_align
  rpn_offset,      // offset of the areas of proposals, f16 bits
  ffts_base_addr,  // base address of the cross-core synchronisation
};
inline constexpr auto kSprNames = enum_names<SprId>;
constexpr std::string_view name(SprId r) { return kSprNames[static_cast<usize>(r)]; }

// VA0..VA7: eight block addresses each, in units of 32 bytes of UB. Source: mindspore-ai/akg csim.
inline constexpr usize kVaRegisters = 8, kVaBlocks = 8;
using VaRegister = std::array<u16, kVaBlocks>;

// The rarely written registers. A block starts with zero in all of them, and with one repeat of img2colv2.
struct Parameters {
  static constexpr std::array<u64, kSprNames.size()> reset() {
    std::array<u64, kSprNames.size()> v{};
    v[static_cast<usize>(SprId::l3d_rpt)] = u64{1} << 16;
    return v;
  }
  std::array<u64, kSprNames.size()> values = reset();
  std::array<VaRegister, kVaRegisters> va{};

  u64 operator[](SprId r) const { return values[static_cast<usize>(r)]; }
  u64& operator[](SprId r) { return values[static_cast<usize>(r)]; }

  friend bool operator==(const Parameters&, const Parameters&) = default;
};

// A value that copies share until one of them writes. Most programs never write parameters, and then a copy is null.
class SharedParameters {
 public:
  const Parameters& operator*() const {
    static constexpr Parameters kReset{};
    return value_ != nullptr ? *value_ : kReset;
  }
  const Parameters* operator->() const { return &**this; }
  Parameters& write() {
    if (value_ == nullptr || value_.use_count() > 1) value_ = std::make_shared<Parameters>(**this);
    return *value_;
  }

  friend bool operator==(const SharedParameters& a, const SharedParameters& b) { return *a == *b; }

 private:
  std::shared_ptr<Parameters> value_;
};

struct Spr {
  std::array<u64, 2> vector_mask{~u64{0}, ~u64{0}};  // [0] lanes 0..63, [1] lanes 64..127
  u64 ctrl = 0;                                      // raw CTRL, as get_ctrl reads it
  SharedParameters parameters;

  u64 operator[](SprId r) const { return (*parameters)[r]; }

  friend bool operator==(const Spr&, const Spr&) = default;
};

// Fields of CTRL. Source: published documentation of SetCtrlSpr.
namespace ctrl {
inline constexpr u64 kHf32 = u64{1} << 46;            // f32 operands of the cube are rounded to HF32
inline constexpr u64 kHf32TiesToZero = u64{1} << 47;  // to the nearest: ties toward zero, else to even
inline constexpr u64 kInfNan = u64{1} << 48;          // 1 INF_NAN, 0 saturation
inline constexpr u64 kMadDirection = u64{1} << 51;    // order in which the cube walks C; bits do not depend on it
inline constexpr u64 kSaturateInt = u64{1} << 53;     // integer results stop at the limits, else they wrap
inline constexpr u64 kCounterMode = u64{1} << 56;     // the vector mask is a count of elements
inline constexpr u64 kWrapCasts = u64{1} << 59;       // casts to narrower integers keep the low bits, else they clamp
inline constexpr u64 kAtomicType = u64{7} << 6;       // AtomicType
inline constexpr u64 kAtomicOp = u64{3} << 9;         // AtomicOp
}  // namespace ctrl

// What copies out of UB, L1 and L0C do to global memory: nothing special without a type. isa/sem/atomic.h does it.
enum class AtomicType : u8 { none, f32, f16, s16, s32, s8, bf16 };
enum class AtomicOp : u8 { add, max, min };
constexpr AtomicType atomic_type(u64 ctrl_value) { return static_cast<AtomicType>(ctrl_value >> 6 & 7); }
constexpr AtomicOp atomic_op(u64 ctrl_value) { return static_cast<AtomicOp>(ctrl_value >> 9 & 3); }

// What pipes leave behind for other instructions and for the scalar unit. State of the core, not copied at issue.
struct ResultRegisters {
  std::array<u64, 2> cmpmask{};  // of vcmp; read by vsel and get_cmpmask
  u64 vms4_sr = 0;               // elements that vmrgsort4 took of its lists, 16 bits each; joint core: 13 bits
  u64 max_min_cnt = 0;           // vcmax, vcmin: value and index over all repeats
  u64 acc_val = 0;               // vcadd with mode 1: sum of all repeats
  u64 rsvd_cnt = 0;              // vreduce: elements that were kept
  u64 l2_atomic = 0;             // AtomicOverflow (isa/sem/atomic.h) of the first atomic write that had one
  u64 rpn_cor_ir = 0;            // rpn_cor: which of 16 proposals are suppressed
};

}  // namespace vinci::isa
