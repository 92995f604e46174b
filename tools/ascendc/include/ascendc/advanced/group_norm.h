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
               const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon, GroupNormTiling& t,
               Place place = Place::here()) {
  const uint32_t group = t.c / t.groupNum * t.hw;
  Norm<T, T, T>({output,
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
  const uint32_t at_once = RowsAtOnce(
      t.c, sharedTmpBuffer.GetLength(), [&](uint32_t n) { return GroupNormWords(n, t.hw); }, place);
  Memory32 memory(sharedTmpBuffer);
  const LocalTensor<float> vals = memory.Take(AlignedRows(at_once)), tile = memory.Take(at_once * t.hw);
  const LocalTensor<float> blocks = memory.Take(AlignedRows(at_once) * kRowBlock);
  for (uint32_t first = 0; first < t.c; first += at_once) {
    const uint32_t n = t.c - first < at_once ? t.c - first : at_once;
    const Rows rows(n, t.hw, t.hw, place);
    const auto load = [&](const LocalTensor<T>& from) {
      LoadNumbers(vals, LocalTensor<T>(from[first]), n, blocks, place);
      rows.ToBlocks(blocks, vals);
    };
    for (uint32_t image = 0; image < t.n; ++image) {
      const LocalTensor<T> x = output[(image * t.c + first) * t.hw];
      Elements in(rows.elements(), place);
      AsFloat(in, x, tile, true);
      in.Done();
      load(gamma);
      rows.MulRow(tile, tile, blocks);
      load(beta);
      rows.AddRow(tile, tile, blocks);
      Elements out(rows.elements(), place);
      if constexpr (std::is_same_v<T, float>) {
        out.Copy(x, tile);
      } else {
        FromFloat(out, x, tile);
      }
      out.Done();
    }
  }
}
template <typename T, bool isReuseSource = false>
void GroupNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean, const LocalTensor<T>& outputVariance,
               const LocalTensor<T>& inputX, const LocalTensor<T>& gamma, const LocalTensor<T>& beta, const T epsilon,
               GroupNormTiling& tiling, Place place = Place::here()) {
  GroupNorm(output, outputMean, outputVariance, inputX, gamma, beta, StackBuffer(place), epsilon, tiling, place);
}

// Over the batch, for each of the other elements; factors and summands are of the batch.
template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
void BatchNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean, const LocalTensor<T>& outputVariance,
               const LocalTensor<T>& inputX, const LocalTensor<T>& gamm, const LocalTensor<T>& beta,
               const LocalTensor<uint8_t>& sharedTmpBuffer, const T epsilon, BatchNormTiling& t,
               Place place = Place::here()) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const uint32_t batch = t.originalBLength, size = t.meanVarSize, aligned = AlignedRows(batch);
  Memory32 memory(sharedTmpBuffer);
  const LocalTensor<float> vals = memory.Take(aligned), factors = memory.Take(aligned * kRowBlock);
  const LocalTensor<float> summands = memory.Take(aligned * kRowBlock);
  const uint32_t taken = (aligned * (1 + 2 * kRowBlock)) * sizeof(float);
  if (sharedTmpBuffer.GetLength() <= taken)
    ::vinci::ascendc::wrong("BatchNorm: the temporary memory is too small", place);
  const Rows rows(batch, kRowBlock, kRowBlock, place);
  const auto load = [&](const LocalTensor<float>& blocks, const LocalTensor<T>& from) {
    Elements m(batch, place);
    AsFloat(m, from, vals, true);
    m.Done();
    rows.ToBlocks(blocks, vals);
  };
  load(factors, gamm);
  load(summands, beta);
  const Buffers n(sharedTmpBuffer[taken], 4, size, place);
  const float reciprocal = 1.0f / static_cast<float>(batch);
  n.ForPieces(size, place, [&](Elements& m, uint32_t c) {
    const LocalTensor<float> mean = n[0], variance = n[1], x = n[2], y = n[3];
    const auto centred = [&](uint32_t b) {
      AsFloat(m, LocalTensor<T>(inputX[b * size + c]), x, true);
      m.Sub(x, x, mean);
    };
    m.Set(mean, 0.0f);
    m.Set(variance, 0.0f);
    for (uint32_t b = 0; b < batch; ++b)
      m.Add(mean, mean, AsFloat(m, LocalTensor<T>(inputX[b * size + c]), x, false));
    m.Muls(mean, mean, reciprocal);
    for (uint32_t b = 0; b < batch; ++b) {
      centred(b);
      m.Mul(x, x, x);
      m.Add(variance, variance, x);
    }
    m.Muls(variance, variance, reciprocal);
    PutFloat(m, LocalTensor<T>(outputMean[c]), mean);
    PutFloat(m, LocalTensor<T>(outputVariance[c]), variance);
    m.Adds(variance, variance, static_cast<float>(epsilon));
    m.Sqrt(variance, variance);
    for (uint32_t b = 0; b < batch; ++b) {
      centred(b);
      m.Div(y, x, variance);
      m.MulBlock(y, y, factors[b * kRowBlock]);
      m.AddBlock(y, y, summands[b * kRowBlock]);
      PutFloat(m, LocalTensor<T>(output[b * size + c]), y);
    }
  });
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false>
void BatchNorm(const LocalTensor<T>& output, const LocalTensor<T>& outputMean, const LocalTensor<T>& outputVariance,
               const LocalTensor<T>& inputX, const LocalTensor<T>& gamm, const LocalTensor<T>& beta, const T epsilon,
               BatchNormTiling& tiling, Place place = Place::here()) {
  BatchNorm(output, outputMean, outputVariance, inputX, gamm, beta, StackBuffer(place), epsilon, tiling, place);
}

// Mean and variance by Welford: for each element of a part, over the parts; then over the elements.
struct WelfordUpdateParam {
  uint32_t rnLength = 1, abLength = 0, abComputeLength = 0;
  float nRec = 1;
};
template <typename T, typename U, bool isReuseSource = false>
void WelfordUpdate(const LocalTensor<U>& outputMean, const LocalTensor<U>& outputVariance,
                   const LocalTensor<U>& inputMean, const LocalTensor<U>& inputVariance, const LocalTensor<T>& inputX,
                   const LocalTensor<uint8_t>& sharedTmpBuffer, const WelfordUpdateParam& para,
                   Place place = Place::here()) {
  static_assert(std::is_same_v<U, float>, "WelfordUpdate: means and variances are float");
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const Buffers n(sharedTmpBuffer, kOperandNodes, para.abComputeLength, place);
  n.ForPieces(para.abComputeLength, place, [&](Elements& m, uint32_t c) {
    const LocalTensor<float> x = AsFloat(m, LocalTensor<T>(inputX[c]), n[0], false), delta = n[1], rest = n[2];
    m.Sub(delta, x, inputMean[c]);
    m.Muls(rest, delta, para.nRec);
    m.Add(outputMean[c], inputMean[c], rest);
    m.Sub(rest, x, outputMean[c]);
    m.Mul(rest, rest, delta);
    m.Add(outputVariance[c], inputVariance[c], rest);
  });
}
template <typename T, typename U, bool isReuseSource = false>
void WelfordUpdate(const LocalTensor<U>& outputMean, const LocalTensor<U>& outputVariance,
                   const LocalTensor<U>& inputMean, const LocalTensor<U>& inputVariance, const LocalTensor<T>& inputX,
                   const WelfordUpdateParam& para, Place place = Place::here()) {
  WelfordUpdate<T, U>(outputMean, outputVariance, inputMean, inputVariance, inputX, StackBuffer(place), para, place);
}

// Mean and variance of all: elements with a mean and a sum of squares each, of so many parts. `para` says how many
// where no tensor does: the same for all, or one number for the first and another for the rest of them.
struct WelfordFinalizePara {
  uint32_t rnLength = 1, abLength = 0;
  uint32_t headCount = 0, headCountLength = 0, tailCount = 0, tailCountLength = 0;
  float abRec = 1, rRec = 1, rRecWithCorrection = 1;
};
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
template <bool isReuseSource = false>
void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
                     const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                     const LocalTensor<uint8_t>& sharedTmpBuffer, const WelfordFinalizePara& para,
                     Place place = Place::here()) {
  FinalizeWelford(
      outputMean, outputVariance, inputMean, inputVariance, sharedTmpBuffer, para,
      [&](const LocalTensor<float>& number) {
        const bool parts = para.headCountLength + para.tailCountLength > 0;
        const uint32_t head = parts ? para.headCountLength : para.abLength;
        Elements all(para.abLength, place);
        all.Set(number, static_cast<float>(para.tailCount));
        all.Done();
        Elements first(head, place);
        first.Set(number, static_cast<float>(parts ? para.headCount : para.rnLength));
        first.Done();
      },
      place);
}
template <bool isReuseSource = false>
void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
                     const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                     const LocalTensor<int32_t>& counts, const LocalTensor<uint8_t>& sharedTmpBuffer,
                     const WelfordFinalizePara& para, Place place = Place::here()) {
  FinalizeWelford(
      outputMean, outputVariance, inputMean, inputVariance, sharedTmpBuffer, para,
      [&](const LocalTensor<float>& number) {
        Elements m(para.abLength, place);
        m.Cast(number, counts, RoundMode::CAST_NONE);
        m.Done();
      },
      place);
}
template <bool isReuseSource = false>
void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
                     const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                     const WelfordFinalizePara& para, Place place = Place::here()) {
  WelfordFinalize(outputMean, outputVariance, inputMean, inputVariance, StackBuffer(place), para, place);
}
template <bool isReuseSource = false>
void WelfordFinalize(const LocalTensor<float>& outputMean, const LocalTensor<float>& outputVariance,
                     const LocalTensor<float>& inputMean, const LocalTensor<float>& inputVariance,
                     const LocalTensor<int32_t>& counts, const WelfordFinalizePara& para, Place place = Place::here()) {
  WelfordFinalize(outputMean, outputVariance, inputMean, inputVariance, counts, StackBuffer(place), para, place);
}

}  // namespace AscendC
