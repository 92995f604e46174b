// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "isa/arch.h"
#include "isa/base/enums.h"
#include "isa/base/types.h"
#include "isa/mem/block_set.h"
#include "isa/mem/view.h"
#include "isa/table/spr.h"

namespace vinci::isa {

// What happens to a result that is infinite or NaN: saturation turns Inf into the largest finite value of the type and
// NaN into 0; INF_NAN keeps IEEE 754. Source: CANN documentation of INF_NAN_MODE_ENABLE, aclrtSetDeviceSatMode.
enum class OverflowMode : u8 { saturation, inf_nan };
inline constexpr auto kOverflowModeNames = enum_names<OverflowMode>;
constexpr std::string_view name(OverflowMode m) { return kOverflowModeNames[static_cast<usize>(m)]; }

// Sticky bits of the STATUS special register. Source: asc-devkit documentation of asc_get_status.
namespace status {
inline constexpr u64 kFloatOverflow = u64{1} << 5;
inline constexpr u64 kFloatUnderflow = u64{1} << 6;
inline constexpr u64 kNegativeToUnsigned = u64{1} << 7;
inline constexpr u64 kL0cToUbOverflow = u64{1} << 8;
inline constexpr u64 kL0cToUbUnderflow = u64{1} << 9;
inline constexpr u64 kCubeOverflow = u64{1} << 10;
inline constexpr u64 kCubeUnderflow = u64{1} << 11;
inline constexpr u64 kScalarNanInf = u64{1} << 13;
inline constexpr u64 kVectorNanInf = u64{1} << 14;
inline constexpr u64 kCubeNanInf = u64{1} << 15;
inline constexpr u64 kMovedNanInf = u64{1} << 61;
// What the overflow dump of the vendor reports.
inline constexpr u64 kOverflows = kFloatOverflow | kNegativeToUnsigned | kL0cToUbOverflow | kCubeOverflow;
}  // namespace status

// How the functions that hardware approximates are computed: vrec, vrsqrt, vexp, vln. Names of op_select_implmode.
//   high_performance  within the error that the vendor documents, deterministic (isa/numeric/approx.h)
//   high_precision    correctly rounded
enum class Precision : u8 { high_performance, high_precision };
inline constexpr auto kPrecisionNames = enum_names<Precision>;
constexpr std::string_view name(Precision p) { return kPrecisionNames[static_cast<usize>(p)]; }

// The order in which the cube adds the products of one element of C; it is not public.
//   sequential  one product after the other
//   fractal     the k0 products of a step exactly, rounded once, then added to C
//   pairwise    the k0 products of a step as a tree of adjacent pairs, then added to C
//   fused       one product after the other, with one rounding for product and sum; of f16 that is sequential
enum class Accumulation : u8 { sequential, fractal, pairwise, fused };
inline constexpr auto kAccumulationNames = enum_names<Accumulation>;
constexpr std::string_view name(Accumulation a) { return kAccumulationNames[static_cast<usize>(a)]; }

// How often vmadd, vmaddrelu, vmla and vaxpy round where operands and result have one type; public sources disagree
// (docs/numerics.md).
//   once   the exact sum
//   twice  the product, then the sum
enum class MultiplyAdd : u8 { once, twice };
inline constexpr auto kMultiplyAddNames = enum_names<MultiplyAdd>;
constexpr std::string_view name(MultiplyAdd m) { return kMultiplyAddNames[static_cast<usize>(m)]; }

// When `mad` to f16 rounds its sums; only the 910 and 310P have it, and no page says.
//   instruction  once, at its end; within it sums are f32
//   step         after each step of k0 = 16 products, which reads C as f16 again
enum class HalfSums : u8 { instruction, step };
inline constexpr auto kHalfSumsNames = enum_names<HalfSums>;
constexpr std::string_view name(HalfSums h) { return kHalfSumsNames[static_cast<usize>(h)]; }

// Which of two HF32 that are as near an f32 is rounded to where CTRL[47] is 0.
enum class Hf32Ties : u8 { even, away };
inline constexpr auto kHf32TiesNames = enum_names<Hf32Ties>;
constexpr std::string_view name(Hf32Ties h) { return kHf32TiesNames[static_cast<usize>(h)]; }

// What subnormal results of vexp, vln and vsqrt become: they stay, or become zero and count as flushed.
enum class SubnormalResults : u8 { kept, flushed };
inline constexpr auto kSubnormalResultsNames = enum_names<SubnormalResults>;
constexpr std::string_view name(SubnormalResults s) { return kSubnormalResultsNames[static_cast<usize>(s)]; }

// Whether an infinite or NaN value that FIXPIPE, or a copy from L0C to UB, moves raises STATUS[61].
enum class MovedSpecials : u8 { ignored, raised };
inline constexpr auto kMovedSpecialsNames = enum_names<MovedSpecials>;
constexpr std::string_view name(MovedSpecials m) { return kMovedSpecialsNames[static_cast<usize>(m)]; }

// What public sources leave open, as options of a chip (numerics: of a chip file).
struct NumericOptions {
  Precision precision = Precision::high_performance;
  Accumulation accumulation = Accumulation::sequential;
  MultiplyAdd multiply_add = MultiplyAdd::once;
  HalfSums half_sums = HalfSums::instruction;
  Hf32Ties hf32_ties = Hf32Ties::even;
  SubnormalResults subnormals = SubnormalResults::kept;
  MovedSpecials moved_specials = MovedSpecials::ignored;

  friend bool operator==(const NumericOptions&, const NumericOptions&) = default;
};

class CensusPoint;  // isa/census/census.h
class ShadowPoint;  // isa/shadow/shadow.h

// What a non-scalar instruction executes on.
struct ExecContext {
  CoreMem& mem;
  const Spr& spr;
  Arch arch = Arch::c220;
  OverflowMode overflow = OverflowMode::inf_nan;
  u64& status;  // STATUS, sticky
  ResultRegisters& results;
  NumericOptions numerics = {};
  CensusPoint* census = nullptr;  // where results are reported to; null: nowhere
  ShadowPoint* shadow = nullptr;  // where their references are computed; null: there are none
  BlockSet* computed = nullptr;   // takes the addresses that come from data (Row::computes); null: they are not needed
};

// What the scalar unit executes on. Values that depend on loaded data are `unknown` in timing-only runs.
struct ScalarContext {
  std::array<u64, 32>& x;
  Spr& spr;
  u32 pc = 0;       // index of this instruction
  u32 next_pc = 0;  // where to go on; branches change it
  u32 block_idx = 0;
  u32 block_num = 1;
  u32 core_id = 0;
  u32 subblock_idx = 0;
  u32 subblock_num = 1;
  OverflowMode overflow = OverflowMode::inf_nan;
  u64 sys_cnt = 0;                 // the system counter when the instruction executes
  std::span<const u64> args;       // kernel arguments
  u64 status = 0;                  // STATUS when the instruction executes
  const ResultRegisters& results;  // the same
  CoreMem* mem = nullptr;          // null in timing-only runs: a load then yields an unknown value
  bool loaded_unknown = false;     // out: the destination now holds a value that only a run with data knows
  u64 status_raised = 0;           // out: bits for STATUS
};

}  // namespace vinci::isa
