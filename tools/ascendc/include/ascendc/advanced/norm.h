// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/row_sizes.h"
#include "ascendc/advanced/rows.h"

// Norms of rows: LayerNorm and RmsNorm. Documentation: Ascend C API, high-level API, normalisation.
namespace AscendC {

struct LayerNormPara {
  uint32_t aLength = 0, rLength = 0, rLengthWithPadding = 0;
};
struct LayerNormConfig {
  bool isNoBeta = false, isNoGamma = false, isOnlyOutput = false, isOutputRstd = true;
};
inline constexpr LayerNormConfig LNCFG_NORM{};

namespace vinci_detail {
// Rows of T, factors of U, numbers of rows of S.
template <typename T, typename U, typename S>
struct NormOperands {
  LocalTensor<T> dst, src;
  LocalTensor<U> gamma, beta;
  LocalTensor<S> mean, variance;
  uint32_t rows, columns, stride;
  float epsilon;
  bool centre;  // by the mean; else the square is of the rows themselves
  bool has_gamma, has_beta, statistics, rstd;
  // The rows are alpha * src + residual.
  bool has_residual = false;
  LocalTensor<T> residual{};
  float alpha = 1;
};

template <typename T, typename U, typename S>
class Norm {
 public:
  Norm(const NormOperands<T, U, S>& x, const LocalTensor<uint8_t>& tmp, Place place) : x_(x), place_(place) {
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
    const uint32_t at_once = RowsAtOnce(
        x.rows, tmp.GetLength(), [&](uint32_t n) { return NormWords(n, x.stride); }, place);
    Memory32 memory(tmp);
    const uint32_t aligned = AlignedRows(at_once);
    acc_ = memory.Take(at_once * kRowLanes);
    vals_ = memory.Take(aligned);
    blocks_ = memory.Take(aligned * kRowBlock);
    tile_ = memory.Take(at_once * x.stride);
    squares_ = memory.Take(at_once * x.stride);
    Elements m(x.columns, place);
    if (x.has_gamma) gamma_ = AsFloat(m, x.gamma, memory.Take(x.stride), false);
    if (x.has_beta) beta_ = AsFloat(m, x.beta, memory.Take(x.stride), false);
    m.Done();
    for (uint32_t first = 0; first < x.rows; first += at_once) {
      const uint32_t left = x.rows - first;
      Run(Rows(left < at_once ? left : at_once, x.columns, x.stride, place), first);
    }
  }

 private:
  using F = LocalTensor<float>;

  void Run(const Rows& rows, uint32_t first) {
    const uint32_t at = first * x_.stride;
    const float reciprocal = 1.0f / static_cast<float>(x_.columns);
    {
      Elements m(rows.elements(), place_);
      AsFloat(m, LocalTensor<T>(x_.src[at]), tile_, true);
      if (x_.has_residual) {
        AsFloat(m, LocalTensor<T>(x_.residual[at]), squares_, true);
        m.Muls(tile_, tile_, x_.alpha);
        m.Add(tile_, tile_, squares_);
      }
      m.Done();
    }
    if (x_.centre) {
      rows.Sum(vals_, tile_, acc_);
      Scale(rows, reciprocal);
      if (x_.statistics) Put(rows, x_.mean[first]);
      rows.ToBlocks(blocks_, vals_);
      rows.SubRow(tile_, tile_, blocks_);
    }
    rows.Mul(squares_, tile_, tile_);
    rows.Sum(vals_, squares_, acc_);
    Scale(rows, reciprocal);
    if (x_.statistics && !x_.rstd) Put(rows, x_.variance[first]);
    {
      Elements m(rows.rows(), place_);
      m.Adds(vals_, vals_, x_.epsilon);
      m.Sqrt(vals_, vals_);
      m.Set(acc_, 1.0f);
      m.Div(vals_, acc_, vals_);
      m.Done();
    }
    if (x_.statistics && x_.rstd) Put(rows, x_.variance[first]);
    rows.ToBlocks(blocks_, vals_);
    rows.MulRow(tile_, tile_, blocks_);
    if (x_.has_gamma) rows.MulColumn(tile_, tile_, gamma_);
    if (x_.has_beta) rows.AddColumn(tile_, tile_, beta_);
    Elements out(rows.elements(), place_);
    if constexpr (std::is_same_v<T, float>) {
      out.Copy(x_.dst[at], tile_);
    } else {
      FromFloat(out, LocalTensor<T>(x_.dst[at]), tile_);
    }
    out.Done();
  }
  void Scale(const Rows& rows, float factor) const {
    Elements m(rows.rows(), place_);
    m.Muls(vals_, vals_, factor);
    m.Done();
  }
  void Put(const Rows& rows, const LocalTensor<S>& to) const { PutNumbers(to, vals_, rows.rows(), acc_, place_); }

  NormOperands<T, U, S> x_;
  Place place_;
  F acc_, vals_, blocks_, tile_, squares_, gamma_, beta_;
};
}  // namespace vinci_detail

// Of batch x sequence rows: the normalised rows, their means and variances.
template <typename T, bool isReuseSource = false>
void LayerNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean, const LocalTensor<T>& outputVariance,
               const LocalTensor<T>& inputX, const LocalTensor<T>& gamma, const LocalTensor<T>& beta,
               const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon, LayerNormTiling& tiling, VINCI_PLACE) {
  vinci_detail::Norm<T, T, T>(
      {output, inputX, gamma, beta, outputMean, outputVariance, tiling.bLength * tiling.sLength, tiling.originalHLength,
       tiling.hLength, static_cast<float>(epsilon), true, true, true, true, false},
      sharedTmpBuffer, place);
}
template <typename T, bool isReuseSource = false>
void LayerNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean, const LocalTensor<T>& outputVariance,
               const LocalTensor<T>& inputX, const LocalTensor<T>& gamma, const LocalTensor<T>& beta, const T epsilon,
               LayerNormTiling& tiling, VINCI_PLACE) {
  LayerNorm(output, outputMean, outputVariance, inputX, gamma, beta, vinci_detail::StackBuffer(place), epsilon, tiling,
            place);
}
// Of a matrix: means, and reciprocals of standard deviations or variances, in f32.
template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig& config = LNCFG_NORM>
void LayerNorm(const LocalTensor<T>& output, const LocalTensor<float>& outputMean, const LocalTensor<float>& outputRstd,
               const LocalTensor<T>& inputX, const LocalTensor<U>& gamma, const LocalTensor<U>& beta,
               const float epsilon, const LocalTensor<uint8_t>& sharedTmpBuffer, const LayerNormPara& para,
               const LayerNormSeparateTiling& /*tiling*/, VINCI_PLACE) {
  vinci_detail::Norm<T, U, float>(
      {output, inputX, gamma, beta, outputMean, outputRstd, para.aLength, para.rLength, para.rLengthWithPadding,
       epsilon, true, !config.isNoGamma, !config.isNoBeta, !config.isOnlyOutput, config.isOutputRstd},
      sharedTmpBuffer, place);
}
template <typename U, typename T, bool isReuseSource = false, const LayerNormConfig& config = LNCFG_NORM>
void LayerNorm(const LocalTensor<T>& output, const LocalTensor<float>& outputMean, const LocalTensor<float>& outputRstd,
               const LocalTensor<T>& inputX, const LocalTensor<U>& gamma, const LocalTensor<U>& beta,
               const float epsilon, const LayerNormPara& para, const LayerNormSeparateTiling& tiling, VINCI_PLACE) {
  LayerNorm<U, T, isReuseSource, config>(output, outputMean, outputRstd, inputX, gamma, beta, epsilon,
                                         vinci_detail::StackBuffer(place), para, tiling, place);
}

template <typename T, bool isBasicBlock = false>
void RmsNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const LocalTensor<T>& gammaLocal,
             const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon, const RmsNormTiling& tiling, VINCI_PLACE) {
  vinci_detail::Norm<T, T, T>({dstLocal,
                               srcLocal,
                               gammaLocal,
                               {},
                               {},
                               {},
                               tiling.bLength * tiling.sLength,
                               tiling.originalHLength,
                               tiling.hLength,
                               static_cast<float>(epsilon),
                               false,
                               true,
                               false,
                               false,
                               false},
                              sharedTmpBuffer, place);
}
template <typename T, bool isBasicBlock = false>
void RmsNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& srcLocal, const LocalTensor<T>& gammaLocal,
             const T epsilon, const RmsNormTiling& tiling, VINCI_PLACE) {
  RmsNorm(dstLocal, srcLocal, gammaLocal, vinci_detail::StackBuffer(place), epsilon, tiling, place);
}

// LayerNorm of alpha * src + gx. The documentation calls the numbers at rstdLocal reciprocals of standard deviations;
// its example and that of asc-devkit show variances, which is what they are here.
template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
void DeepNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& meanLocal, const LocalTensor<T>& rstdLocal,
              const LocalTensor<T>& srcLocal, const LocalTensor<T>& gxLocal, const LocalTensor<T>& betaLocal,
              const LocalTensor<T>& gammaLocal, const LocalTensor<uint8_t>& sharedTmpBuffer, const T alpha,
              const T epsilon, DeepNormTiling& tiling, VINCI_PLACE) {
  vinci_detail::Norm<T, T, T>(
      {dstLocal, srcLocal, gammaLocal, betaLocal, meanLocal, rstdLocal, tiling.bLength * tiling.sLength,
       tiling.originalHLength, tiling.hLength, static_cast<float>(epsilon), true, true, true, true, false, true,
       gxLocal, static_cast<float>(alpha)},
      sharedTmpBuffer, place);
}
template <typename T, bool isReuseSrc = false, bool isBasicBlock = false>
void DeepNorm(const LocalTensor<T>& dstLocal, const LocalTensor<T>& meanLocal, const LocalTensor<T>& rstdLocal,
              const LocalTensor<T>& srcLocal, const LocalTensor<T>& gxLocal, const LocalTensor<T>& betaLocal,
              const LocalTensor<T>& gammaLocal, const T alpha, const T epsilon, DeepNormTiling& tiling, VINCI_PLACE) {
  DeepNorm(dstLocal, meanLocal, rstdLocal, srcLocal, gxLocal, betaLocal, gammaLocal, vinci_detail::StackBuffer(place),
           alpha, epsilon, tiling, place);
}

}  // namespace AscendC
