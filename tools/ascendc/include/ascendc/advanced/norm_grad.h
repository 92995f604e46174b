// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/group_norm.h"

// The gradient of LayerNorm, and norms whose mean and variance are known or come from Welford's parts. Documentation:
// Ascend C API, high-level API, normalisation.
namespace AscendC {

struct LayerNormGradShapeInfo {
  DataFormat dataFormat = DataFormat::ND;
};

namespace vinci_detail {
// Buffers of so many rows: the rows three times, a row of factors, and numbers of rows.
template <typename T>
class NormTiles {
 public:
  using F = LocalTensor<float>;

  NormTiles(const LocalTensor<uint8_t>& tmp, uint32_t rows, uint32_t stride, Place place)
      : at_once(RowsAtOnce(
            rows, tmp.GetLength(), [&](uint32_t n) { return NormGradWords(n, stride); }, place)),
        place_(place) {
    Memory32 memory(tmp);
    acc = memory.Take(at_once * kRowLanes);
    for (F& numbers : vals)
      numbers = memory.Take(AlignedRows(at_once));
    blocks = memory.Take(AlignedRows(at_once) * kRowBlock);
    for (F& tile : tiles)
      tile = memory.Take(at_once * stride);
    for (F& row : factors)
      row = memory.Take(stride);
  }
  // What of the tensor are elements, as f32.
  template <typename N>
  void Load(const F& to, const LocalTensor<N>& from, uint32_t elements) const {
    Elements m(elements, place_);
    AsFloat(m, from, to, true);
    m.Done();
  }
  void Store(const LocalTensor<T>& to, const F& from, uint32_t elements) const {
    Elements m(elements, place_);
    PutFloat(m, to, from);
    m.Done();
  }
  // Numbers of rows, which need not begin at a block.
  template <typename N>
  void LoadVals(const F& to, const LocalTensor<N>& from, uint32_t rows) const {
    LoadNumbers(to, from, rows, acc, place_);
  }
  // vals[0] = 1 / sqrt(variance + epsilon)
  template <typename N>
  void LoadRstd(const LocalTensor<N>& variance, float epsilon, uint32_t rows) const {
    LoadVals(vals[0], variance, rows);
    Elements m(rows, place_);
    m.Adds(vals[0], vals[0], epsilon);
    m.Sqrt(vals[0], vals[0]);
    m.Set(acc, 1.0f);
    m.Div(vals[0], acc, vals[0]);
    m.Done();
  }

  uint32_t at_once;
  F acc, blocks, vals[4], tiles[3], factors[2];

 private:
  Place place_;
};
}  // namespace vinci_detail

template <typename T, bool isReuseSource = false>
void LayerNormGrad(const LocalTensor<T>& outputPdX, const LocalTensor<T>& resForGamma, const LocalTensor<T>& inputDy,
                   const LocalTensor<T>& inputX, const LocalTensor<T>& inputVariance, const LocalTensor<T>& inputMean,
                   const LocalTensor<T>& inputGamma, const LocalTensor<uint8_t>& sharedTmpBuffer, T epsilon,
                   const LayerNormGradTiling& t, const LayerNormGradShapeInfo& /*shapeInfo*/ = {}, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const uint32_t all = t.bLength * t.sLength, stride = t.hLength;
  const vinci_detail::NormTiles<T> x(sharedTmpBuffer, all, stride, place);
  const auto &x1 = x.tiles[0], &x2 = x.tiles[1], &product = x.tiles[2];
  const auto &rstd = x.vals[0], &var = x.vals[1], &mean = x.vals[2], &rest = x.vals[3];
  const float reciprocal = 1.0f / static_cast<float>(t.originalHLength);
  x.Load(x.factors[0], inputGamma, t.originalHLength);
  for (uint32_t first = 0; first < all; first += x.at_once) {
    const uint32_t n = all - first < x.at_once ? all - first : x.at_once, at = first * stride;
    const vinci_detail::Rows rows(n, t.originalHLength, stride, place);
    x.Load(x1, LocalTensor<T>(inputDy[at]), rows.elements());
    rows.MulColumn(x1, x1, x.factors[0]);
    x.Load(x2, LocalTensor<T>(inputX[at]), rows.elements());
    x.LoadVals(mean, LocalTensor<T>(inputMean[first]), n);
    rows.ToBlocks(x.blocks, mean);
    rows.SubRow(x2, x2, x.blocks);
    x.LoadRstd(LocalTensor<T>(inputVariance[first]), static_cast<float>(epsilon), n);
    rows.Mul(product, x1, x2);
    rows.Sum(var, product, x.acc);
    rows.Sum(mean, x1, x.acc);
    rows.Sum(rest, x2, x.acc);
    ResetMask(place);
    vinci_detail::Elements m(n, place);
    // pd_var = -1/2 sum(x1 x2) rstd^3, pd_mean = -sum(x1) rstd - 2 / H pd_var sum(x2)
    for (int power = 0; power < 3; ++power)
      m.Mul(var, var, rstd);
    m.Muls(var, var, -0.5f);
    m.Mul(mean, mean, rstd);
    m.Muls(mean, mean, -1.0f);
    m.Mul(rest, rest, var);
    m.Muls(rest, rest, -2.0f * reciprocal);
    m.Add(mean, mean, rest);
    m.Muls(mean, mean, reciprocal);
    m.Muls(var, var, 2.0f * reciprocal);
    m.Done();
    rows.ToBlocks(x.blocks, rstd);
    rows.MulRow(x1, x1, x.blocks);
    rows.MulRow(product, x2, x.blocks);
    x.Store(resForGamma[at], product, rows.elements());
    rows.ToBlocks(x.blocks, var);
    rows.MulRow(x2, x2, x.blocks);
    rows.ToBlocks(x.blocks, mean);
    rows.AddRow(x1, x1, x.blocks);
    vinci_detail::Elements sum(rows.elements(), place);
    sum.Add(x1, x1, x2);
    sum.Done();
    x.Store(outputPdX[at], x1, rows.elements());
  }
}
template <typename T, bool isReuseSource = false>
void LayerNormGrad(const LocalTensor<T>& outputPdX, const LocalTensor<T>& resForGamma, const LocalTensor<T>& inputDy,
                   const LocalTensor<T>& inputX, const LocalTensor<T>& inputVariance, const LocalTensor<T>& inputMean,
                   const LocalTensor<T>& inputGamma, T epsilon, const LayerNormGradTiling& tiling,
                   const LayerNormGradShapeInfo& shapeInfo = {}, VINCI_PLACE) {
  LayerNormGrad(outputPdX, resForGamma, inputDy, inputX, inputVariance, inputMean, inputGamma,
                vinci_detail::StackBuffer(place), epsilon, tiling, shapeInfo, place);
}

// The gradients of gamma and beta: sums over the rows of dy * resForGamma and of dy.
template <typename T, bool isReuseSource = false>
void LayerNormGradBeta(const LocalTensor<T>& outputPdGamma, const LocalTensor<T>& outputPdBeta,
                       const LocalTensor<T>& resForGamma, const LocalTensor<T>& inputDy,
                       const LocalTensor<uint8_t>& sharedTmpBuffer, const LayerNormGradBetaTiling& t, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const vinci_detail::Buffers n(sharedTmpBuffer, 4, t.hLength, place);
  n.ForPieces(t.hLength, place, [&](vinci_detail::Elements& m, uint32_t c) {
    m.Set(n[0], 0.0f);
    m.Set(n[1], 0.0f);
    for (uint32_t row = 0; row < t.bLength * t.sLength; ++row) {
      const uint32_t at = row * t.hLength + c;
      const LocalTensor<float> dy = vinci_detail::AsFloat(m, LocalTensor<T>(inputDy[at]), n[2], false);
      m.Add(n[1], n[1], dy);
      m.Mul(n[3], dy, vinci_detail::AsFloat(m, LocalTensor<T>(resForGamma[at]), n[3], false));
      m.Add(n[0], n[0], n[3]);
    }
    vinci_detail::PutFloat(m, LocalTensor<T>(outputPdGamma[c]), n[0]);
    vinci_detail::PutFloat(m, LocalTensor<T>(outputPdBeta[c]), n[1]);
  });
}
template <typename T, bool isReuseSource = false>
void LayerNormGradBeta(const LocalTensor<T>& outputPdGamma, const LocalTensor<T>& outputPdBeta,
                       const LocalTensor<T>& resForGamma, const LocalTensor<T>& inputDy,
                       const LayerNormGradBetaTiling& tiling, VINCI_PLACE) {
  LayerNormGradBeta(outputPdGamma, outputPdBeta, resForGamma, inputDy, vinci_detail::StackBuffer(place), tiling, place);
}

// LayerNorm with mean and variance given.
struct NormalizePara {
  uint32_t aLength = 0, rLength = 0, rLengthWithPadding = 0;
};
struct NormalizeConfig {
  ReducePattern reducePattern = ReducePattern::AR;
  int32_t aLength = -1;
  bool isNoBeta = false, isNoGamma = false, isOnlyOutput = false;
};
inline constexpr NormalizeConfig NLCFG_NORM{};
template <typename U, typename T, bool isReuseSource = false, const NormalizeConfig& config = NLCFG_NORM>
void Normalize(const LocalTensor<T>& output, const LocalTensor<float>& outputRstd, const LocalTensor<float>& inputMean,
               const LocalTensor<float>& inputVariance, const LocalTensor<T>& inputX, const LocalTensor<U>& gamma,
               const LocalTensor<U>& beta, const LocalTensor<uint8_t>& sharedTmpBuffer, const float epsilon,
               const NormalizePara& para, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const uint32_t stride = para.rLengthWithPadding;
  const vinci_detail::NormTiles<T> x(sharedTmpBuffer, para.aLength, stride, place);
  const LocalTensor<float> tile = x.tiles[0];
  if constexpr (!config.isNoGamma) x.Load(x.factors[0], gamma, para.rLength);
  if constexpr (!config.isNoBeta) x.Load(x.factors[1], beta, para.rLength);
  for (uint32_t first = 0; first < para.aLength; first += x.at_once) {
    const uint32_t n = para.aLength - first < x.at_once ? para.aLength - first : x.at_once, at = first * stride;
    const vinci_detail::Rows rows(n, para.rLength, stride, place);
    x.Load(tile, LocalTensor<T>(inputX[at]), rows.elements());
    x.LoadVals(x.vals[1], LocalTensor<float>(inputMean[first]), n);
    rows.ToBlocks(x.blocks, x.vals[1]);
    rows.SubRow(tile, tile, x.blocks);
    x.LoadRstd(LocalTensor<float>(inputVariance[first]), epsilon, n);
    if constexpr (!config.isOnlyOutput)
      vinci_detail::PutNumbers(LocalTensor<float>(outputRstd[first]), x.vals[0], n, x.acc, place);
    rows.ToBlocks(x.blocks, x.vals[0]);
    rows.MulRow(tile, tile, x.blocks);
    if constexpr (!config.isNoGamma) rows.MulColumn(tile, tile, x.factors[0]);
    if constexpr (!config.isNoBeta) rows.AddColumn(tile, tile, x.factors[1]);
    x.Store(output[at], tile, rows.elements());
  }
}
template <typename U, typename T, bool isReuseSource = false, const NormalizeConfig& config = NLCFG_NORM>
void Normalize(const LocalTensor<T>& output, const LocalTensor<float>& outputRstd, const LocalTensor<float>& inputMean,
               const LocalTensor<float>& inputVariance, const LocalTensor<T>& inputX, const LocalTensor<U>& gamma,
               const LocalTensor<U>& beta, const float epsilon, const NormalizePara& para, VINCI_PLACE) {
  Normalize<U, T, isReuseSource, config>(output, outputRstd, inputMean, inputVariance, inputX, gamma, beta,
                                         vinci_detail::StackBuffer(place), epsilon, para, place);
}

}  // namespace AscendC
