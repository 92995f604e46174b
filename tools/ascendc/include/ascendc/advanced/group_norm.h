// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/norm.h"

// Norms over other axes than the rows: groups of channels, and batches; mean and variance of what comes in parts.
// Documentation: Ascend C API, high-level API, normalisation.
namespace AscendC {

// Of images of channels of pixels: groups of channels are rows; then each channel has a factor and a summand.
template <typename T, bool isReuseSource = false>
void GroupNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean, const LocalTensor<T>& outputVariance,
               const LocalTensor<T>& inputX, const LocalTensor<T>& gamma, const LocalTensor<T>& beta,
               const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon, GroupNormTiling& t, VINCI_PLACE) {
  const uint32_t group = t.c / t.groupNum * t.hw;
  vinci_detail::Norm<T, T, T>({output,
                               inputX,
                               {},
                               {},
                               outputMean,
                               outputVariance,
                               t.n * t.groupNum,
                               group,
                               group,
                               static_cast<float>(epsilon),
                               true,
                               false,
                               false,
                               true,
                               false},
                              sharedTmpBuffer, place);
  const uint32_t at_once = vinci_detail::RowsAtOnce(
      t.c, sharedTmpBuffer.GetLength(), [&](uint32_t n) { return vinci_detail::GroupNormWords(n, t.hw); }, place);
  vinci_detail::Memory32 memory(sharedTmpBuffer);
  const LocalTensor<float> vals = memory.Take(vinci_detail::AlignedRows(at_once)), tile = memory.Take(at_once * t.hw);
  const LocalTensor<float> blocks = memory.Take(vinci_detail::AlignedRows(at_once) * vinci_detail::kRowBlock);
  for (uint32_t first = 0; first < t.c; first += at_once) {
    const uint32_t n = t.c - first < at_once ? t.c - first : at_once;
    const vinci_detail::Rows rows(n, t.hw, t.hw, place);
    const auto load = [&](const LocalTensor<T>& from) {
      vinci_detail::LoadNumbers(vals, LocalTensor<T>(from[first]), n, blocks, place);
      rows.ToBlocks(blocks, vals);
    };
    for (uint32_t image = 0; image < t.n; ++image) {
      const LocalTensor<T> x = output[(image * t.c + first) * t.hw];
      vinci_detail::Elements in(rows.elements(), place);
      vinci_detail::AsFloat(in, x, tile, true);
      in.Done();
      load(gamma);
      rows.MulRow(tile, tile, blocks);
      load(beta);
      rows.AddRow(tile, tile, blocks);
      vinci_detail::Elements out(rows.elements(), place);
      if constexpr (std::is_same_v<T, float>) {
        out.Copy(x, tile);
      } else {
        vinci_detail::FromFloat(out, x, tile);
      }
      out.Done();
    }
  }
}
template <typename T, bool isReuseSource = false>
void GroupNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean, const LocalTensor<T>& outputVariance,
               const LocalTensor<T>& inputX, const LocalTensor<T>& gamma, const LocalTensor<T>& beta, const T epsilon,
               GroupNormTiling& tiling, VINCI_PLACE) {
  GroupNorm(output, outputMean, outputVariance, inputX, gamma, beta, vinci_detail::StackBuffer(place), epsilon, tiling,
            place);
}

// Over the batch, for each of the other elements; factors and summands are of the batch.
template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
void BatchNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean, const LocalTensor<T>& outputVariance,
               const LocalTensor<T>& inputX, const LocalTensor<T>& gamm, const LocalTensor<T>& beta,
               const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon, BatchNormTiling& t, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const uint32_t batch = t.originalBLength, size = t.meanVarSize, aligned = vinci_detail::AlignedRows(batch);
  vinci_detail::Memory32 memory(sharedTmpBuffer);
  const LocalTensor<float> vals = memory.Take(aligned), factors = memory.Take(aligned * vinci_detail::kRowBlock);
  const LocalTensor<float> summands = memory.Take(aligned * vinci_detail::kRowBlock);
  const uint32_t taken = (aligned * (1 + 2 * vinci_detail::kRowBlock)) * sizeof(float);
  if (sharedTmpBuffer.GetLength() <= taken)
    ::vinci::ascendc::wrong("BatchNorm: the temporary memory is too small", place);
  const vinci_detail::Rows rows(batch, vinci_detail::kRowBlock, vinci_detail::kRowBlock, place);
  const auto load = [&](const LocalTensor<float>& blocks, const LocalTensor<T>& from) {
    vinci_detail::Elements m(batch, place);
    vinci_detail::AsFloat(m, from, vals, true);
    m.Done();
    rows.ToBlocks(blocks, vals);
  };
  load(factors, gamm);
  load(summands, beta);
  const vinci_detail::Buffers n(sharedTmpBuffer[taken], 4, size, place);
  const float reciprocal = 1.0f / static_cast<float>(batch);
  n.ForPieces(size, place, [&](vinci_detail::Elements& m, uint32_t c) {
    const LocalTensor<float> mean = n[0], variance = n[1], x = n[2], y = n[3];
    const auto centred = [&](uint32_t b) {
      vinci_detail::AsFloat(m, LocalTensor<T>(inputX[b * size + c]), x, true);
      m.Sub(x, x, mean);
    };
    m.Set(mean, 0.0f);
    m.Set(variance, 0.0f);
    for (uint32_t b = 0; b < batch; ++b)
      m.Add(mean, mean, vinci_detail::AsFloat(m, LocalTensor<T>(inputX[b * size + c]), x, false));
    m.Muls(mean, mean, reciprocal);
    for (uint32_t b = 0; b < batch; ++b) {
      centred(b);
      m.Mul(x, x, x);
      m.Add(variance, variance, x);
    }
    m.Muls(variance, variance, reciprocal);
    vinci_detail::PutFloat(m, LocalTensor<T>(outputMean[c]), mean);
    vinci_detail::PutFloat(m, LocalTensor<T>(outputVariance[c]), variance);
    m.Adds(variance, variance, static_cast<float>(epsilon));
    m.Sqrt(variance, variance);
    for (uint32_t b = 0; b < batch; ++b) {
      centred(b);
      m.Div(y, x, variance);
      m.MulBlock(y, y, factors[b * vinci_detail::kRowBlock]);
      m.AddBlock(y, y, summands[b * vinci_detail::kRowBlock]);
      vinci_detail::PutFloat(m, LocalTensor<T>(output[b * size + c]), y);
    }
  });
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
void BatchNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean, const LocalTensor<T>& outputVariance,
               const LocalTensor<T>& inputX, const LocalTensor<T>& gamm, const LocalTensor<T>& beta, const T epsilon,
               BatchNormTiling& tiling, VINCI_PLACE) {
  BatchNorm(output, outputMean, outputVariance, inputX, gamm, beta, vinci_detail::StackBuffer(place), epsilon, tiling,
            place);
}

// Mean and variance by Welford: for each element of a part, over the parts; then over the elements.
struct WelfordUpdateParam {
  uint32_t rnLength = 1, abLength = 0, abComputeLength = 0;
  float nRec = 1;
};
// isInplace: elements from abComputeLength to abLength are those of the inputs; else they are not written.
struct WelfordUpdateConfig {
  constexpr WelfordUpdateConfig(const bool inplace) : isInplace(inplace) {}  // NOLINT(google-explicit-constructor)
  bool isInplace = false;
};
constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG = {false};
template <typename T, typename U, bool isReuseSource = false, const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG>
void WelfordUpdate(const LocalTensor<U>& outputMean, const LocalTensor<U>& outputVariance,
                   const LocalTensor<U>& inputMean, const LocalTensor<U>& inputVariance, const LocalTensor<T>& inputX,
                   const LocalTensor<uint8_t>& sharedTmpBuffer, const WelfordUpdateParam& para, VINCI_PLACE) {
  static_assert(std::is_same_v<U, float>, "WelfordUpdate: means and variances are float");
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if (config.isInplace && para.abComputeLength < para.abLength) {
    const auto keep = [&](const LocalTensor<U>& to, const LocalTensor<U>& from) {
      if (to.Address() != from.Address()) DataCopy(to, from, para.abLength, place);
    };
    keep(outputMean, inputMean);
    keep(outputVariance, inputVariance);
    vinci_detail::IssueBarrier(PIPE_V, place);
  }
  const vinci_detail::Buffers n(sharedTmpBuffer, vinci_detail::kOperandNodes, para.abComputeLength, place);
  n.ForPieces(para.abComputeLength, place, [&](vinci_detail::Elements& m, uint32_t c) {
    const LocalTensor<float> x = vinci_detail::AsFloat(m, LocalTensor<T>(inputX[c]), n[0], false), delta = n[1],
                             rest = n[2];
    m.Sub(delta, x, inputMean[c]);
    m.Muls(rest, delta, para.nRec);
    m.Add(outputMean[c], inputMean[c], rest);
    m.Sub(rest, x, outputMean[c]);
    m.Mul(rest, rest, delta);
    m.Add(outputVariance[c], inputVariance[c], rest);
  });
}
template <typename T, typename U, bool isReuseSource = false, const WelfordUpdateConfig& config = WFUPDATE_DEFAULT_CFG>
void WelfordUpdate(const LocalTensor<U>& outputMean, const LocalTensor<U>& outputVariance,
                   const LocalTensor<U>& inputMean, const LocalTensor<U>& inputVariance, const LocalTensor<T>& inputX,
                   const WelfordUpdateParam& para, VINCI_PLACE) {
  WelfordUpdate<T, U, isReuseSource, config>(outputMean, outputVariance, inputMean, inputVariance, inputX,
                                             vinci_detail::StackBuffer(place), para, place);
}

// Mean and variance of all: elements with a mean and a sum of squares each, of so many parts. `para` says how many
// where no tensor does: the same for all, or one number for the first and another for the rest of them.
struct WelfordFinalizePara {
  uint32_t rnLength = 1, abLength = 0;
  uint32_t headCount = 0, headCountLength = 0, tailCount = 0, tailCountLength = 0;
  float abRec = 1, rRec = 1, rRecWithCorrection = 1;
};
namespace vinci_detail {
template <typename Counts>
void FinalizeWelford(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
                     const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const WelfordFinalizePara& para, Counts&& counts,
                     Place place) {
  const uint32_t n = para.abLength;
  if (sharedTmpBuffer.GetLength() < WelfordFinalizeWords(n) * sizeof(float))
    ::vinci::ascendc::wrong("WelfordFinalize: the temporary memory is too small", place);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  Memory32 memory(sharedTmpBuffer);
  const LocalTensor<float> acc = memory.Take(kRowLanes), total = memory.Take(kRowBlock);
  const LocalTensor<float> blocks = memory.Take(kRowBlock * kRowBlock), number = memory.Take(n), x = memory.Take(n);
  const Rows row(1, n, AlignedRows(n), place);
  const auto sum = [&](const LocalTensor<float>& to) {
    row.Sum(total, x, acc);
    ResetMask(place);
    Elements one(1, place);
    one.Muls(total, total, para.rRec);
    one.Copy(to, total);
    one.Done();
  };
  counts(number);
  Elements m(n, place);
  m.Mul(x, inputMean, number);
  m.Done();
  sum(outputMean);
  row.ToBlocks(blocks, total);
  row.SubRow(x, inputMean, blocks);
  Elements rest(n, place);
  rest.Mul(x, x, x);
  rest.Mul(x, x, number);
  rest.Add(x, x, inputVariance);
  rest.Done();
  sum(outputVariance);
}
}  // namespace vinci_detail

template <bool isReuseSource = false>
void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
                     const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const WelfordFinalizePara& para, VINCI_PLACE) {
  vinci_detail::FinalizeWelford(
      outputMean, outputVariance, inputMean, inputVariance, sharedTmpBuffer, para,
      [&](const LocalTensor<float>& number) {
        const bool parts = para.headCountLength + para.tailCountLength > 0;
        const uint32_t head = parts ? para.headCountLength : para.abLength;
        vinci_detail::Elements all(para.abLength, place);
        all.Set(number, static_cast<float>(para.tailCount));
        all.Done();
        vinci_detail::Elements first(head, place);
        first.Set(number, static_cast<float>(parts ? para.headCount : para.rnLength));
        first.Done();
      },
      place);
}
template <bool isReuseSource = false>
void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
                     const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                     const LocalTensor<int32_t>& counts, const LocalTensor<uint8_t>& sharedTmpBuffer,
                     const WelfordFinalizePara& para, VINCI_PLACE) {
  vinci_detail::FinalizeWelford(
      outputMean, outputVariance, inputMean, inputVariance, sharedTmpBuffer, para,
      [&](const LocalTensor<float>& number) {
        vinci_detail::Elements m(para.abLength, place);
        m.Cast(number, counts, RoundMode::CAST_NONE);
        m.Done();
      },
      place);
}
template <bool isReuseSource = false>
void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
                     const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                     const WelfordFinalizePara& para, VINCI_PLACE) {
  WelfordFinalize(outputMean, outputVariance, inputMean, inputVariance, vinci_detail::StackBuffer(place), para, place);
}
template <bool isReuseSource = false>
void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
                     const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                     const LocalTensor<int32_t>& counts, const WelfordFinalizePara& para, VINCI_PLACE) {
  WelfordFinalize(outputMean, outputVariance, inputMean, inputVariance, counts, vinci_detail::StackBuffer(place), para,
                  place);
}

}  // namespace AscendC
