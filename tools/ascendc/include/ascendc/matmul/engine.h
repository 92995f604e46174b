// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/copy_l0c.h"
#include "ascendc/fixpipe.h"
#include "ascendc/matmul/feed.h"
#include "ascendc/mmad.h"

// The part of Matmul that a cube core runs: blocks of results from matrices in global memory or L1.
namespace AscendC::vinci_detail {

// Where results go to.
struct MatmulTarget {
  uint64_t address = 0;
  bool in_l1 = false;
  uint8_t atomic = 0;       // 1: add, 2: maximum, 3: minimum
  bool sequential = false;  // the block alone, in rows of baseN
};
// Products in L0C of operands of type T, with a bias of type TBias.
template <class T, bool sparse, class TBias>
class MatmulProduct : public MatmulFeed<T, sparse> {
 public:
  using Feed = MatmulFeed<T, sparse>;
  using Feed::kRowsOfWeight, Feed::kSparse, Feed::kSquare;
  // What L0C holds.
  using Sum = std::conditional_t<std::is_same_v<T, int8_t> || std::is_same_v<T, int4b_t>, int32_t, float>;

  // The product of block `index`; `partial`: to be added to the one before, in place.
  void Multiply(const MatmulWork& w, uint32_t index, bool partial, Place place) {
    MatmulUnit& u = MatmulUnit::Here();
    if (!partial) u.result = half_c_ != 0 ? u.result ^ 1 : 0;
    MatmulUnit::Wait(u.stored[u.result], HardEvent::FIX_M, u.result, place);
    Multiply(w, index, partial, LocalTensor<Sum>(TPosition::CO1, u.result * half_c_, x_a_ * x_b_), place);
  }
  void Multiply(const MatmulWork& w, uint32_t index, bool partial, const LocalTensor<Sum>& result, Place place) {
    Claim(w, place);
    const MatmulBlock block(w, index);
    const auto base_k = static_cast<uint32_t>(w.tiling.baseK);
    const uint32_t deep_a = w.a.in_l1 ? RoundUp(w.k, base_k) : step_a_ * base_k;
    const uint32_t deep_b = w.b.in_l1 ? RoundUp(w.k, base_k) : step_b_ * base_k;
    MatmulPiece a, b;
    uint32_t slot_a = 0, slot_b = 0;
    const Pieces of_a{a_, slots_a_, 0, w.a, w, block.mi, block.m0, block.m, deep_a, w.k, uses_};
    constexpr uint32_t r = kRowsOfWeight;
    const Pieces of_b{b_,       slots_b_, MatmulUnit::kSlots, w.b,           w,    block.ni,
                      block.n0, block.n,  deep_b / r,         Parts(w.k, r), uses_};
    for (uint32_t k = 0; k < w.k; k += base_k) {
      const uint32_t use_k = w.k - k < base_k ? w.k - k : base_k;
      const bool next_a = k % deep_a == 0, next_b = k % deep_b == 0;
      if (next_a) slot_a = of_a.Fetch(k, place);
      if (next_b) slot_b = of_b.Fetch(k / r, place);
      if (next_a) {
        of_a.Ahead(k, place);
        a = PieceOf(a_, slot_a, w.a, block.m0);
      }
      if (next_b) {
        of_b.Ahead(k / r, place);
        b = PieceOf(b_, slot_b, w.b, block.n0);
      }
      if (next_a) of_a.Arrived(slot_a, place);
      if (next_b) of_b.Arrived(slot_b, place);
      const bool last = k + base_k >= w.k;
      Step(w, block, a, b, k % deep_a, k % deep_b / r, use_k, k == 0 && !partial, result, place);
      MatmulUnit& u = MatmulUnit::Here();
      if (!w.a.in_l1 && (last || (k + base_k) % deep_a == 0))
        MatmulUnit::Set(u.read[slot_a], HardEvent::MTE1_MTE2, slot_a, place);
      if (!w.b.in_l1 && (last || (k + base_k) % deep_b == 0))
        MatmulUnit::Set(u.read[MatmulUnit::kSlots + slot_b], HardEvent::MTE1_MTE2, MatmulUnit::kSlots + slot_b, place);
    }
  }

 protected:
  using Feed::a_, Feed::b_, Feed::bias_, Feed::half_a_, Feed::half_b_, Feed::half_c_, Feed::slots_a_, Feed::slots_b_;
  using Feed::Claim, Feed::OneRow, Feed::PieceOf, Feed::WeightsToL0B;
  using Feed::step_a_, Feed::step_b_, Feed::uses_, Feed::x_a_, Feed::x_b_;
  using typename Feed::Pieces;

  // One step of k.
  void Step(const MatmulWork& w, const MatmulBlock& block, const MatmulPiece& a, const MatmulPiece& b, uint32_t k_a,
            uint32_t k_b, uint32_t use_k, bool first, const LocalTensor<Sum>& result, Place place) {
    MatmulUnit& u = MatmulUnit::Here();
    const uint32_t half = half_a_ != 0 && half_b_ != 0 ? u.half ^= 1 : 0;
    const LocalTensor<T> a2(TPosition::A2, half * half_a_, 0);
    const LocalTensor<T> b2(TPosition::B2, half * half_b_, 0);
    // Columns that fill the squares of a transposing load are computed, but do not come out.
    const uint32_t n = w.b.k_rows ? RoundUp(block.n, kSquare) : block.n;
    const bool bias = first && w.bias != 0;
    if (bias) BringBias(w, block, n, place);
    MatmulUnit::Wait(u.taken[half], HardEvent::M_MTE1, half, place);
    MatmulMover<T>::ToL0A(a2, a, w.a.k_rows, block.m, k_a, use_k, place);
    if constexpr (kSparse) {
      WeightsToL0B(b2, b, n, k_b, Parts(use_k, kRowsOfWeight), place);
    } else {
      MatmulMover<T>::ToL0B(b2, b, w.b.k_rows, n, k_b, use_k, place);
    }
    IssueSetFlag(HardEvent::MTE1_M, static_cast<int32_t>(half), place);
    IssueWaitFlag(HardEvent::MTE1_M, static_cast<int32_t>(half), place);
    MmadParams p;
    // Of one row, Mmad would read A as a plain vector and not as fractals. Source: documentation of Mmad.
    p.m = static_cast<uint16_t>(block.m == 1 ? 2 : block.m);
    p.n = static_cast<uint16_t>(n);
    p.k = static_cast<uint16_t>(use_k);
    p.kDirectionAlign = MatmulMover<T>::kGroups;
    p.cmatrixInitVal = first;
    // Small products overtake each other in L0C. Source: documentation of Mmad.
    if (!first && Parts(block.m, 16) * Parts(n, 16) < 10) IssueBarrier(PIPE_M, place);
    if constexpr (kSparse) {
      p.cmatrixInitVal = first && !bias;
      p.cmatrixSource = bias;
      MmadWithSparse(result, a2, b2, p, place);
      if (bias) MatmulUnit::Set(u.bias_taken, HardEvent::M_MTE1, 2, place);
    } else if (bias) {
      Mmad(result, a2, b2, LocalTensor<Sum>(TPosition::C2, 0, 0), p, place);
      MatmulUnit::Set(u.bias_taken, HardEvent::M_MTE1, 2, place);
    } else {
      Mmad(result, a2, b2, p, place);
    }
    MatmulUnit::Set(u.taken[half], HardEvent::M_MTE1, half, place);
  }

  // `n` columns, zeros behind those of the block.
  void BringBias(const MatmulWork& w, const MatmulBlock& block, uint32_t n, Place place) {
    // Types of a product name one for a bias that many products do not have.
    constexpr bool kConverted = std::is_same_v<Sum, float> && std::is_same_v<TBias, half>;
    if constexpr (std::is_same_v<Sum, TBias> || kConverted) {
      CopyBias(w, block, n, place);
    } else {
      ::vinci::ascendc::unsupported("Matmul: a bias that is neither half nor of the type of the sums", place);
    }
  }
  void CopyBias(const MatmulWork& w, const MatmulBlock& block, uint32_t n, Place place) {
    MatmulUnit& u = MatmulUnit::Here();
    const LocalTensor<TBias> l1(TPosition::C1, bias_, 0);
    GlobalTensor<TBias> gm;
    gm.SetGlobalBuffer(reinterpret_cast<__gm__ TBias*>(w.bias));
    MatmulUnit::Wait(u.read[MatmulUnit::kBias], HardEvent::MTE1_MTE2, MatmulUnit::kBias, place);
    DataCopy(l1, gm[block.n0], OneRow(block.n), place);
    const auto own = static_cast<uint32_t>(Parts(block.n * sizeof(TBias), ONE_BLK_SIZE));
    const auto all = static_cast<uint32_t>(Parts(n * sizeof(TBias), ONE_BLK_SIZE));
    if (all > own) {
      Fill(LocalTensor<uint16_t>(TPosition::C1, bias_ + own * ONE_BLK_SIZE, 0),
           InitConstValueParams<uint16_t>(1, static_cast<uint16_t>(all - own), 0, 0), place);
    }
    MatmulUnit::Set(u.loaded[MatmulUnit::kBias], HardEvent::MTE2_MTE1, MatmulUnit::kBias, place);
    MatmulUnit::Wait(u.loaded[MatmulUnit::kBias], HardEvent::MTE2_MTE1, MatmulUnit::kBias, place);
    MatmulUnit::Wait(u.bias_taken, HardEvent::M_MTE1, 2, place);
    CopyToBiasTable(LocalTensor<Sum>(TPosition::C2, 0, 0), l1,
                    DataCopyParams(1, static_cast<uint16_t>(Parts(n * sizeof(TBias), 64)), 0, 0), place);
    MatmulUnit::Set(u.read[MatmulUnit::kBias], HardEvent::MTE1_MTE2, MatmulUnit::kBias, place);
  }
};

// The same, and what becomes of the sums.
template <class A, class B, class C, class Bias>
class MatmulEngine : public MatmulProduct<typename A::T, B::isSparse, typename Bias::T> {
 public:
  using Product = MatmulProduct<typename A::T, B::isSparse, typename Bias::T>;
  using typename Product::Sum;
  using TA = typename A::T;
  using TB = typename B::T;
  using TC = typename C::T;
  static_assert(!B::isSparse || (std::is_same_v<TA, int8_t> && B::isTrans && B::format == CubeFormat::ND &&
                                 B::pos == TPosition::GM),
                "Matmul: sparse weights of int8_t, ND, transposed, in global memory");
  static_assert(std::is_same_v<TA, TB>, "Matmul: A and B of different types are not supported by Vinci");

  // The latest block to where it belongs.
  template <bool relu = false, bool split = false>
  void Store(const MatmulWork& w, uint32_t index, const MatmulTarget& target, Place place) {
    MatmulUnit& u = MatmulUnit::Here();
    const MatmulBlock block(w, index);
    const LocalTensor<Sum> result(TPosition::CO1, u.result * half_c_, x_a_ * x_b_);
    IssueSetFlag(HardEvent::M_FIX, static_cast<int32_t>(u.result), place);
    IssueWaitFlag(HardEvent::M_FIX, static_cast<int32_t>(u.result), place);
    FixpipeParamsV220 p;
    // Rows of whole blocks of 32 bytes, with zeros at their ends, or of the elements alone.
    constexpr uint32_t kRow = C::format == CubeFormat::ND_ALIGN ? ONE_BLK_SIZE / sizeof(TC) : 1;
    p.nSize = static_cast<uint16_t>(RoundUp(block.n, kRow));
    p.mSize = static_cast<uint16_t>(block.m);
    p.srcStride = static_cast<uint16_t>(RoundUp(block.m, 16));
    p.reluEn = relu;
    p.isChannelSplit = split;
    p.quantPre = Quantisation(w);
    p.deqScalar = w.quant_scale;
    constexpr bool nz = C::format == CubeFormat::NZ;
    const auto base_n = static_cast<uint32_t>(w.tiling.baseN);
    uint64_t offset;
    if constexpr (nz) {
      // The columns of a block are 16 elements, or 32 bytes of smaller ones.
      constexpr uint32_t kWidth = sizeof(TC) == 1 ? 32 : split ? 8 : 16;
      const uint32_t rows = RoundUp(target.sequential ? block.m : w.rows_c, 16);
      if constexpr (kWidth != 16 || sizeof(TC) == 1)
        p.nSize = static_cast<uint16_t>(RoundUp(block.n, kWidth));
      else
        p.nSize = static_cast<uint16_t>(RoundUp(block.n, 16));
      p.dstStride = rows * kWidth * static_cast<uint32_t>(sizeof(TC)) / ONE_BLK_SIZE;
      offset = target.sequential ? 0 : uint64_t{block.n0} * rows + block.m0 * kWidth;
    } else {
      p.dstStride = target.sequential ? base_n : w.row_length_c;
      offset = target.sequential ? 0 : uint64_t{block.m0} * w.row_length_c + block.n0;
    }
    if (target.atomic != 0) IssueBarrier(PIPE_FIX, place);  // after what it is added to
    if (target.atomic == 1) SetAtomicAdd<TC>(place);
    if (target.atomic == 2) SetAtomicMax<TC>(place);
    if (target.atomic == 3) SetAtomicMin<TC>(place);
    constexpr CO2Layout layout = nz ? CO2Layout::NZ : CO2Layout::ROW_MAJOR;
    const LocalTensor<uint64_t> table = Table(w, block, place);
    if (target.in_l1) {
      const LocalTensor<TC> l1(TPosition::A1, static_cast<uint32_t>(target.address + offset * sizeof(TC)), 0);
      FixpipeTo(l1, result, table, p, layout, place);
    } else {
      GlobalTensor<TC> gm;
      gm.SetGlobalBuffer(reinterpret_cast<__gm__ TC*>(target.address));
      if (w.copy_out != nullptr)
        CopyOwn(w, block, gm[offset].GetPhyAddr(), result, p, table.Address());
      else
        FixpipeTo(gm[offset], result, table, p, layout, place);
    }
    if (w.quant_table != 0) MatmulUnit::Set(u.table_read, HardEvent::FIX_MTE2, 0, place);
    if (target.atomic != 0) SetAtomicNone(place);
    MatmulUnit::Set(u.stored[u.result], HardEvent::FIX_M, u.result, place);
  }

 private:
  using Product::half_c_, Product::x_a_, Product::x_b_, Product::Table;

  // The program's own copy: the parameters in the older form, from those of the newer one.
  static void CopyOwn(const MatmulWork& w, const MatmulBlock& block, const __gm__ void* gm,
                      const LocalTensor<Sum>& result, const FixpipeParamsV220& p, uint64_t table) {
    constexpr uint32_t kRowBlocks = 16 * sizeof(Sum) / ONE_BLK_SIZE;  // of a row of 16 sums
    const uint32_t length = p.mSize * kRowBlocks;
    const bool nz = C::format == CubeFormat::NZ;
    DataCopyOutParams own(static_cast<uint16_t>(Parts(p.nSize, 16u)), static_cast<uint16_t>(length), 0,
                          nz ? p.dstStride - p.mSize * (sizeof(TC) == 4 ? 2 : 1) : p.dstStride,
                          static_cast<uint16_t>(block.n), false, static_cast<int>(block.mi),
                          static_cast<int>(block.ni));
    own.quantMode = static_cast<uint8_t>(p.quantPre);
    own.quantScalar = p.deqScalar;
    own.cbufWorkspaceAddr = table;
    w.copy_out(gm, result.template ReinterpretCast<int8_t>(), &own, w.user_info, w.user_data);
  }

  static QuantMode_t Quantisation(const MatmulWork& w) {
    if constexpr (std::is_same_v<Sum, float>) {
      if constexpr (std::is_same_v<TC, half>) return QuantMode_t::F322F16;
      if constexpr (std::is_same_v<TC, bfloat16_t>) return QuantMode_t::F322BF16;
      if constexpr (sizeof(TC) == 1) return w.quant_table != 0 ? QuantMode_t::VQF322B8_PRE : QuantMode_t::QF322B8_PRE;
    } else {
      if constexpr (std::is_same_v<TC, half>) return w.quant_table != 0 ? QuantMode_t::VDEQF16 : QuantMode_t::DEQF16;
      if constexpr (sizeof(TC) == 1) return w.quant_table != 0 ? QuantMode_t::VREQ8 : QuantMode_t::REQ8;
    }
    return QuantMode_t::NoQuant;
  }
};

}  // namespace AscendC::vinci_detail
