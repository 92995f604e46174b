// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/softmax.h"

// SoftmaxFlashV3: rows of eight parts, which are brought near the mean of the row before the exponential.
// Documentation: Ascend C API, high-level API, SoftmaxFlashV3; its text in Python says what is summed for the mean of a
// part.
namespace AscendC {

struct SoftMaxParams {
  uint32_t srcM = 0, srcK = 0, oriSrcM = 0, oriSrcK = 0;
  uint32_t loopCnt = 0, splitMeanCnt = 0;
  float alpha = 0;
};

namespace vinci_detail {
struct SoftmaxFlash3Operands {
  LocalTensor<half> dst, src, exp_max;
  LocalTensor<float> mean, sum, max, in_mean, in_sum, in_max;
};

class SoftmaxFlash3 {
 public:
  SoftmaxFlash3(const SoftmaxFlash3Operands& x, bool update, const LocalTensor<uint8_t>& tmp, const SoftMaxParams& p,
                Place place)
      : x_(x), update_(update), p_(p), place_(place) {
    if (p.splitMeanCnt != kParts) ::vinci::ascendc::wrong("SoftmaxFlashV3: splitMeanCnt is to be 8", place);
    if (p.srcK < kFirst || p.srcK % kRowLanes != 0)
      ::vinci::ascendc::wrong("SoftmaxFlashV3: rows are to have at least 512 elements, a multiple of 64", place);
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
    const uint32_t at_once = RowsAtOnce(
        p.srcM, tmp.GetLength(), [&](uint32_t n) { return SoftmaxFlash3Words(n, p.srcK); }, place);
    Memory32 memory(tmp);
    const uint32_t aligned = AlignedRows(at_once);
    acc_ = memory.Take(aligned * kRowLanes);
    tile_ = memory.Take(at_once * p.srcK);
    vals_ = memory.Take(aligned);
    narrow_ = memory.Take(aligned);
    for (F* blocks : {&local_, &mean_, &max_, &shift_, &before_, &sum_})
      *blocks = memory.Take(aligned * kRowBlock);
    for (uint32_t first = 0; first < p.srcM; first += at_once) {
      const uint32_t left = p.srcM - first;
      Run(Rows(left < at_once ? left : at_once, p.srcK, p.srcK, place), first);
    }
  }

 private:
  using F = LocalTensor<float>;
  static constexpr uint32_t kParts = 8, kFirst = kParts * kRowLanes;

  void Run(const Rows& rows, uint32_t first) {
    const uint32_t at = first * p_.srcK, number = first * kRowBlock, numbers = rows.rows() * kRowBlock;
    {
      Elements m(rows.elements(), place_);
      m.Cast(tile_, LocalTensor<half>(x_.src[at]), RoundMode::CAST_NONE);
      m.Done();
    }
    const float scalar = p_.alpha / (1 - p_.alpha);
    Means(rows);
    {
      Elements m(numbers, place_);
      m.Sub(local_, mean_, local_);
      m.Muls(local_, local_, scalar);
      m.Done();
    }
    Shift(rows);
    rows.Max(vals_, tile_, acc_);
    rows.ToBlocks(max_, vals_);
    const F in_mean = x_.in_mean[number], in_max = x_.in_max[number], in_sum = x_.in_sum[number];
    F factor = before_;
    {
      Elements m(numbers, place_);
      if (update_) {
        const auto loops = static_cast<float>(p_.loopCnt);
        m.Muls(before_, in_mean, loops - 1);
        m.Add(before_, before_, mean_);
        m.Muls(before_, before_, 1 / loops);  // the mean of all
        m.Sub(shift_, mean_, before_);
        m.Muls(shift_, shift_, scalar);
        m.Sub(local_, in_mean, before_);
        m.Muls(local_, local_, scalar);  // what the older rows shift by
        m.Copy(mean_, before_);
        m.Add(max_, max_, shift_);
        m.Add(local_, local_, in_max);
        m.Max(max_, max_, local_);
        m.Sub(factor, local_, max_);
        m.Exp(factor, factor);
        m.Sub(shift_, max_, shift_);
      } else {
        m.Copy(shift_, max_);
      }
      m.Done();
    }
    rows.SubRow(tile_, tile_, shift_);
    rows.Exp(tile_, tile_);
    rows.Sum(vals_, tile_, acc_);
    rows.ToBlocks(sum_, vals_);
    {
      Elements m(numbers, place_);
      if (update_) {
        m.Mul(local_, factor, in_sum);
        m.Add(sum_, sum_, local_);
      }
      m.Copy(LocalTensor<float>(x_.mean[number]), mean_);
      m.Copy(LocalTensor<float>(x_.max[number]), max_);
      m.Copy(LocalTensor<float>(x_.sum[number]), sum_);
      m.Done();
    }
    if (update_) StoreFactor(rows, LocalTensor<half>(x_.exp_max[first * (ONE_BLK_SIZE / sizeof(half))]), factor);
    Elements m(rows.elements(), place_);
    FromFloat(m, LocalTensor<half>(x_.dst[at]), tile_);
    m.Done();
  }

  // The means of the parts, side by side in local_, and of the row, in mean_. The first 512 elements are summed by 8;
  // those behind them are added to these 64 sums, by 64; and these are summed by 8.
  void Means(const Rows& rows) {
    SetMaskLanes<float>(kRowLanes, place_);
    for (uint32_t r = 0; r < rows.rows(); ++r)
      IssueReduce(BlockReduceSumInsn<float>(), acc_[r * kRowLanes], tile_[r * p_.srcK], kParts, 1, 1, 8, place_);
    ResetMask(place_);
    IssueBarrier(PIPE_V, place_);
    if (p_.srcK > kFirst) Rows(rows.rows(), p_.srcK - kFirst, p_.srcK, place_).AddFolded(acc_, tile_[kFirst]);
    Reduce(BlockReduceSumInsn<float>(), local_, acc_, rows.rows(), kRowLanes);
    Elements m(rows.rows() * kRowBlock, place_);
    m.Muls(local_, local_, static_cast<float>(kParts) / static_cast<float>(p_.srcK));
    m.Done();
    Reduce(WholeReduceSumInsn<float>(), vals_, local_, rows.rows(), kRowBlock);
    Elements of_rows(rows.rows(), place_);
    of_rows.Muls(vals_, vals_, 1.0f / kParts);
    of_rows.Done();
    rows.ToBlocks(mean_, vals_);
  }
  void Reduce(::vinci::ascendc::Insn& insn, const F& d, const F& x, uint32_t rows, uint32_t elements) const {
    SetMaskLanes<float>(elements, place_);
    for (uint32_t first = 0; first < rows; first += 255) {
      const uint32_t n = rows - first < 255 ? rows - first : 255;
      const uint32_t results = &insn == &WholeReduceSumInsn<float>() ? 1 : kParts;
      IssueReduce(insn, d[first * results], x[first * elements], static_cast<int32_t>(n), 1, 1,
                  static_cast<int32_t>(elements / kRowBlock), place_);
    }
    ResetMask(place_);
    IssueBarrier(PIPE_V, place_);
  }
  // tile_ less the number of each part.
  void Shift(const Rows& rows) {
    Rows(rows.rows() * kParts, kRowBlock, kRowBlock, place_).ToBlocks(acc_, local_);
    const uint32_t part = p_.srcK / kParts;
    Elements m(part, place_);
    for (uint32_t i = 0; i < rows.rows() * kParts; ++i) {
      ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
      m.SubBlock(tile_[i * part], tile_[i * part], acc_[i * kRowBlock]);
    }
    m.Done();
  }
  void StoreFactor(const Rows& rows, const LocalTensor<half>& to, const F& factor) {
    static ::vinci::ascendc::Insn copy("copy_ubuf_to_ubuf");
    rows.FromBlocks(vals_, factor);
    Elements m(rows.rows(), place_);
    const LocalTensor<half> narrow = narrow_.ReinterpretCast<half>();
    m.Cast(narrow, vals_, RoundMode::CAST_NONE);
    m.Done();
    rows.ToBlocks(acc_.ReinterpretCast<half>(), narrow);
    ::vinci::ascendc::issue(copy, {to.Address(), acc_.Address(), 0, 1, rows.rows(), 0, 0}, place_);
    IssueBarrier(PIPE_V, place_);
  }

  SoftmaxFlash3Operands x_;
  bool update_;
  SoftMaxParams p_;
  Place place_;
  F acc_, tile_, vals_, narrow_, local_, mean_, max_, shift_, before_, sum_;
};
}  // namespace vinci_detail

template <typename T, typename U, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftmaxFlashV3(const LocalTensor<T>& dstTensor, const LocalTensor<U>& meanTensor,
                    const LocalTensor<U>& expSumTensor, const LocalTensor<U>& maxTensor,
                    const LocalTensor<T>& srcTensor, const LocalTensor<T>& expMaxTensor,
                    const LocalTensor<U>& inMeanTensor, const LocalTensor<U>& inExpSumTensor,
                    const LocalTensor<U>& inMaxTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
                    const SoftMaxTiling& /*tiling*/, const SoftMaxParams& params, VINCI_PLACE) {
  static_assert(std::is_same_v<T, half> && std::is_same_v<U, float>, "SoftmaxFlashV3 is of half, its numbers of float");
  vinci_detail::RefuseNz<isDataFormatNZ>();
  vinci_detail::SoftmaxFlash3({dstTensor, srcTensor, expMaxTensor, meanTensor, expSumTensor, maxTensor, inMeanTensor,
                               inExpSumTensor, inMaxTensor},
                              isUpdate, sharedTmpBuffer, params, place);
}
template <typename T, typename U, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftmaxFlashV3(const LocalTensor<T>& dstTensor, const LocalTensor<U>& meanTensor,
                    const LocalTensor<U>& expSumTensor, const LocalTensor<U>& maxTensor,
                    const LocalTensor<T>& srcTensor, const LocalTensor<T>& expMaxTensor,
                    const LocalTensor<U>& inMeanTensor, const LocalTensor<U>& inExpSumTensor,
                    const LocalTensor<U>& inMaxTensor, const SoftMaxTiling& tiling, const SoftMaxParams& params,
                    VINCI_PLACE) {
  SoftmaxFlashV3<T, U, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ, config>(
      dstTensor, meanTensor, expSumTensor, maxTensor, srcTensor, expMaxTensor, inMeanTensor, inExpSumTensor,
      inMaxTensor, vinci_detail::StackBuffer(place), tiling, params, place);
}

}  // namespace AscendC
