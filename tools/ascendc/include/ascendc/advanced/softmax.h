// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/row_sizes.h"
#include "ascendc/advanced/rows.h"

// Softmax of rows and its relatives. Sums and maxima of rows are blocks of 32 bytes filled with the number, or one
// number each, as the mode says; they may be f32 where the matrix is f16. Documentation: Ascend C API, high-level API,
// SoftMax.
namespace AscendC {

struct SoftMaxShapeInfo {
  uint32_t srcM = 0, srcK = 0, oriSrcM = 0, oriSrcK = 0;
};
enum class SoftmaxMode { SOFTMAX_NORMAL = 0, SOFTMAX_OUTPUT_WITHOUT_BRC = 1 };
struct SoftmaxConfig {
  bool isCheckTiling = true;
  uint32_t oriSrcM = 0, oriSrcK = 0;
  SoftmaxMode mode = SoftmaxMode::SOFTMAX_NORMAL;
};
inline constexpr SoftmaxConfig SOFTMAX_DEFAULT_CFG = {true, 0, 0, SoftmaxMode::SOFTMAX_NORMAL};

// The tiling of a shape that the kernel finds.
constexpr SoftMaxTiling SoftMaxFlashV2TilingFunc(const SoftMaxShapeInfo& shapeInfo, const uint32_t dataTypeSize1,
                                                 const uint32_t /*dataTypeSize2*/, const uint32_t localWorkSpaceSize,
                                                 const bool /*isUpdate*/ = false, const bool /*isBasicBlock*/ = false,
                                                 const bool /*isDataFormatNZ*/ = false,
                                                 const bool /*isFlashOutputBrc*/ = false) {
  return vinci_detail::SoftmaxTilingOf(shapeInfo.srcM, shapeInfo.srcK, dataTypeSize1, localWorkSpaceSize);
}
// The same as kernels call it that have no shape; the memory is in words.
constexpr SoftMaxTiling SoftMaxFlashV2TilingFuncImpl(const uint32_t srcM, const uint32_t srcK,
                                                     const uint32_t dataTypeSize1, const uint32_t dataTypeSize2,
                                                     const uint32_t localWorkSpaceSize, const bool isUpdate = false,
                                                     const bool isBasicBlock = false, const bool isDataFormatNZ = false,
                                                     const bool isFlashOutputBrc = false) {
  return SoftMaxFlashV2TilingFunc({srcM, srcK, srcM, srcK}, dataTypeSize1, dataTypeSize2,
                                  localWorkSpaceSize * static_cast<uint32_t>(sizeof(float)), isUpdate, isBasicBlock,
                                  isDataFormatNZ, isFlashOutputBrc);
}

namespace vinci_detail {
// What is computed besides exp(src - max of the row).
struct SoftmaxKind {
  bool statistics = true;  // sum and max are results
  bool given = false;      // sum and max are there already
  bool update = false;     // rows go on: old sum and max are inputs
  bool divide = true;      // by the sum
  bool scaled = false;     // the factor of older results has the quotient of the sums in it, too
  bool log = false;        // the logarithm of the result, to base 10
  bool compact = false;    // sums, maxima and factors are a number for each row
};
constexpr SoftmaxKind KindOf(const SoftmaxConfig& config) {
  SoftmaxKind kind;
  kind.compact = config.mode == SoftmaxMode::SOFTMAX_OUTPUT_WITHOUT_BRC;
  return kind;
}
// S is the type of the numbers of rows.
template <typename T, typename S>
struct SoftmaxOperands {
  LocalTensor<T> dst, src, exp_max;
  LocalTensor<S> sum, max, in_sum, in_max;
};

template <typename T, typename S>
class Softmax {
 public:
  Softmax(const SoftmaxOperands<T, S>& x, SoftmaxKind kind, const LocalTensor<uint8_t>& tmp,
          const SoftMaxTiling& tiling, SoftMaxShapeInfo shape, Place place)
      : x_(x), kind_(kind), place_(place) {
    if (shape.srcM == 0) shape = {tiling.srcM, tiling.srcK, tiling.srcM, tiling.srcK};
    if (shape.oriSrcM == 0) shape.oriSrcM = shape.srcM;
    if (shape.oriSrcK == 0) shape.oriSrcK = shape.srcK;
    ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
    stride_ = shape.srcK;
    const uint32_t at_once = RowsAtOnce(
        shape.oriSrcM, tmp.GetLength(), [&](uint32_t n) { return SoftmaxWords(n, stride_, kFloat); }, place);
    Memory32 memory(tmp);
    const uint32_t aligned = AlignedRows(at_once);
    acc_ = memory.Take(at_once * kRowLanes);
    vals_ = memory.Take(aligned);
    narrow_ = memory.Take(aligned);
    for (LocalTensor<float>& blocks : blocks_)
      blocks = memory.Take(aligned * kRowBlock);
    if constexpr (!kFloat) tile_ = memory.Take(at_once * stride_);
    for (uint32_t first = 0; first < shape.oriSrcM; first += at_once) {
      const uint32_t left = shape.oriSrcM - first;
      Run(Rows(left < at_once ? left : at_once, shape.oriSrcK, stride_, place), first);
    }
  }

 private:
  using F = LocalTensor<float>;
  static constexpr bool kFloat = std::is_same_v<T, float>;
  static constexpr uint32_t kStatistic = ONE_BLK_SIZE / sizeof(S);  // elements of a block of sum and max

  void Run(const Rows& rows, uint32_t first) {
    const uint32_t at = first * stride_, number = first * (kind_.compact ? 1 : kStatistic);
    F s, d;
    if constexpr (kFloat) {
      s = x_.src[at];
      d = x_.dst[at];
    } else {
      Elements m(rows.elements(), place_);
      m.Cast(tile_, LocalTensor<T>(x_.src[at]), RoundMode::CAST_NONE);
      m.Done();
      s = d = tile_;
    }
    F max = blocks_[0], sum = blocks_[1], old = blocks_[2];
    if (kind_.given) {
      max = Load(rows, x_.in_max[number], max);
    } else {
      rows.Max(vals_, s, acc_);
      rows.ToBlocks(max, vals_);
    }
    if (kind_.update) {
      const F before = Load(rows, x_.in_max[number], blocks_[3]);
      Elements m(rows.rows() * kRowBlock, place_);
      m.Max(max, max, before);
      m.Sub(old, before, max);
      m.Exp(old, old);
      m.Done();
    }
    rows.SubRow(d, s, max);
    rows.Exp(d, d);
    if (kind_.given) {
      sum = Load(rows, x_.in_sum[number], sum);
    } else {
      rows.Sum(vals_, d, acc_);
      rows.ToBlocks(sum, vals_);
    }
    if (kind_.update) {
      const F before = Load(rows, x_.in_sum[number], blocks_[3]);
      Elements m(rows.rows() * kRowBlock, place_);
      m.Mul(blocks_[3], old, before);
      m.Add(sum, sum, blocks_[3]);
      if (kind_.scaled) m.Div(old, blocks_[3], sum);
      m.Done();
      Store(rows, LocalTensor<T>(x_.exp_max[first * (kind_.compact ? 1 : ONE_BLK_SIZE / sizeof(T))]), old);
    }
    if (kind_.divide) rows.DivRow(d, d, sum);
    if (kind_.log) {
      rows.Ln(d, d);
      rows.Muls(d, d, 0.4342944819032518f);
    }
    if (kind_.statistics) {
      Store(rows, LocalTensor<S>(x_.max[number]), max);
      Store(rows, LocalTensor<S>(x_.sum[number]), sum);
    }
    if constexpr (!kFloat) {
      Elements m(rows.elements(), place_);
      FromFloat(m, LocalTensor<T>(x_.dst[at]), tile_);
      m.Done();
    }
  }
  // Numbers of rows as blocks of f32.
  F Load(const Rows& rows, const LocalTensor<S>& from, const F& blocks) {
    if (kind_.compact) {
      LoadNumbers(vals_, from, rows.rows(), narrow_, place_);
      rows.ToBlocks(blocks, vals_);
      return blocks;
    }
    if constexpr (std::is_same_v<S, float>) {
      return from;
    } else {
      Elements m(rows.rows() * kStatistic, place_);
      m.Cast(acc_, from, RoundMode::CAST_NONE);
      m.Done();
      rows.FromBlocks(vals_, acc_, kStatistic);
      rows.ToBlocks(blocks, vals_);
      return blocks;
    }
  }
  template <typename N>
  void Store(const Rows& rows, const LocalTensor<N>& to, const F& blocks) {
    static ::vinci::ascendc::Insn copy("copy_ubuf_to_ubuf");
    F from = blocks;
    if (kind_.compact) {
      rows.FromBlocks(vals_, blocks);
      PutNumbers(to, vals_, rows.rows(), narrow_, place_);
      return;
    }
    if constexpr (!std::is_same_v<N, float>) {
      rows.FromBlocks(vals_, blocks);
      Elements m(rows.rows(), place_);
      const LocalTensor<N> narrow = narrow_.template ReinterpretCast<N>();
      m.Cast(narrow, vals_, RoundMode::CAST_NONE);
      m.Done();
      rows.ToBlocks(acc_.template ReinterpretCast<N>(), narrow);
      from = acc_;
    }
    if (from.Address() != to.Address())
      ::vinci::ascendc::issue(copy, {to.Address(), from.Address(), 0, 1, rows.rows(), 0, 0}, place_);
    IssueBarrier(PIPE_V, place_);
  }

  SoftmaxOperands<T, S> x_;
  SoftmaxKind kind_;
  Place place_;
  uint32_t stride_ = 0;
  F acc_, vals_, narrow_, tile_, blocks_[kSoftmaxBlocks];
};

// The format NZ is refused by name.
template <bool nz>
constexpr void RefuseNz() {
  static_assert(!nz, "softmax of matrices in the format NZ is not supported by Vinci");
}
}  // namespace vinci_detail

#define VINCI_SOFTMAX_TEMPLATE                                                                              \
  template <typename T, bool isReuseSource = false, bool isBasicBlock = false, bool isDataFormatNZ = false, \
            const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, typename S>
VINCI_SOFTMAX_TEMPLATE
void SoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<S>& sumTensor, const LocalTensor<S>& maxTensor,
             const LocalTensor<T>& srcTensor, const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling,
             const SoftMaxShapeInfo& softmaxShapeInfo = {}, VINCI_PLACE) {
  vinci_detail::RefuseNz<isDataFormatNZ>();
  vinci_detail::Softmax<T, S>({dstTensor, srcTensor, {}, sumTensor, maxTensor, {}, {}}, vinci_detail::KindOf(config),
                              sharedTmpBuffer, tiling, softmaxShapeInfo, place);
}
VINCI_SOFTMAX_TEMPLATE
void SoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<S>& sumTensor, const LocalTensor<S>& maxTensor,
             const LocalTensor<T>& srcTensor, const SoftMaxTiling& tiling,
             const SoftMaxShapeInfo& softmaxShapeInfo = {}, VINCI_PLACE) {
  SoftMax<T, isReuseSource, isBasicBlock, isDataFormatNZ, config, S>(
      dstTensor, sumTensor, maxTensor, srcTensor, vinci_detail::StackBuffer(place), tiling, softmaxShapeInfo, place);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
             const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling,
             const SoftMaxShapeInfo& softmaxShapeInfo = {}, VINCI_PLACE) {
  vinci_detail::SoftmaxKind kind;
  kind.statistics = false;
  vinci_detail::Softmax<T, float>({dstTensor, srcTensor, {}, {}, {}, {}, {}}, kind, sharedTmpBuffer, tiling,
                                  softmaxShapeInfo, place);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false,
          const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG>
void SoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const SoftMaxTiling& tiling,
             const SoftMaxShapeInfo& softmaxShapeInfo = {}, VINCI_PLACE) {
  SoftMax<T, isReuseSource, isBasicBlock, config>(dstTensor, srcTensor, vinci_detail::StackBuffer(place), tiling,
                                                  softmaxShapeInfo, place);
}

// With sums and maxima that are there already.
VINCI_SOFTMAX_TEMPLATE
void SimpleSoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<S>& inSumTensor,
                   const LocalTensor<S>& inMaxTensor, const LocalTensor<T>& srcTensor,
                   const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling,
                   const SoftMaxShapeInfo& softmaxShapeInfo = {}, VINCI_PLACE) {
  vinci_detail::RefuseNz<isDataFormatNZ>();
  vinci_detail::SoftmaxKind kind = vinci_detail::KindOf(config);
  kind.statistics = false;
  kind.given = true;
  vinci_detail::Softmax<T, S>({dstTensor, srcTensor, {}, {}, {}, inSumTensor, inMaxTensor}, kind, sharedTmpBuffer,
                              tiling, softmaxShapeInfo, place);
}
VINCI_SOFTMAX_TEMPLATE
void SimpleSoftMax(const LocalTensor<T>& dstTensor, const LocalTensor<S>& inSumTensor,
                   const LocalTensor<S>& inMaxTensor, const LocalTensor<T>& srcTensor, const SoftMaxTiling& tiling,
                   const SoftMaxShapeInfo& softmaxShapeInfo = {}, VINCI_PLACE) {
  SimpleSoftMax<T, isReuseSource, isBasicBlock, isDataFormatNZ, config, S>(dstTensor, inSumTensor, inMaxTensor,
                                                                           srcTensor, vinci_detail::StackBuffer(place),
                                                                           tiling, softmaxShapeInfo, place);
}
#undef VINCI_SOFTMAX_TEMPLATE

template <typename T, bool isReuseSource = false, bool isDataFormatNZ = false>
void LogSoftMax(const LocalTensor<T>& dst, const LocalTensor<T>& sum, const LocalTensor<T>& max,
                const LocalTensor<T>& src, const LocalTensor<uint8_t>& sharedTmpBuffer, const LogSoftMaxTiling& tiling,
                const SoftMaxShapeInfo& softmaxShapeInfo = {}, VINCI_PLACE) {
  vinci_detail::RefuseNz<isDataFormatNZ>();
  vinci_detail::SoftmaxKind kind;
  kind.log = true;
  vinci_detail::Softmax<T, T>({dst, src, {}, sum, max, {}, {}}, kind, sharedTmpBuffer, tiling, softmaxShapeInfo, place);
}

// Rows that come in parts: expMaxTensor is what older results are multiplied by.
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, typename S>
void SoftmaxFlash(const LocalTensor<T>& dstTensor, const LocalTensor<S>& sumTensor, const LocalTensor<S>& maxTensor,
                  const LocalTensor<T>& srcTensor, const LocalTensor<T>& expMaxTensor,
                  const LocalTensor<S>& inSumTensor, const LocalTensor<S>& inMaxTensor,
                  const LocalTensor<uint8_t>& sharedTmpBuffer, const SoftMaxTiling& tiling, bool isUpdate = false,
                  const SoftMaxShapeInfo& softmaxShapeInfo = {}, VINCI_PLACE) {
  vinci_detail::SoftmaxKind kind;
  kind.update = kind.scaled = isUpdate;
  vinci_detail::Softmax<T, S>({dstTensor, srcTensor, expMaxTensor, sumTensor, maxTensor, inSumTensor, inMaxTensor},
                              kind, sharedTmpBuffer, tiling, softmaxShapeInfo, place);
}
template <typename T, bool isReuseSource = false, bool isBasicBlock = false, typename S>
void SoftmaxFlash(const LocalTensor<T>& dstTensor, const LocalTensor<S>& sumTensor, const LocalTensor<S>& maxTensor,
                  const LocalTensor<T>& srcTensor, const LocalTensor<T>& expMaxTensor,
                  const LocalTensor<S>& inSumTensor, const LocalTensor<S>& inMaxTensor, const SoftMaxTiling& tiling,
                  bool isUpdate = false, const SoftMaxShapeInfo& softmaxShapeInfo = {}, VINCI_PLACE) {
  SoftmaxFlash<T, isReuseSource, isBasicBlock, S>(dstTensor, sumTensor, maxTensor, srcTensor, expMaxTensor, inSumTensor,
                                                  inMaxTensor, vinci_detail::StackBuffer(place), tiling, isUpdate,
                                                  softmaxShapeInfo, place);
}
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, typename S>
void SoftmaxFlashV2(const LocalTensor<T>& dstTensor, const LocalTensor<S>& expSumTensor,
                    const LocalTensor<S>& maxTensor, const LocalTensor<T>& srcTensor,
                    const LocalTensor<T>& expMaxTensor, const LocalTensor<S>& inExpSumTensor,
                    const LocalTensor<S>& inMaxTensor, const LocalTensor<uint8_t>& sharedTmpBuffer,
                    const SoftMaxTiling& tiling, const SoftMaxShapeInfo& softmaxShapeInfo = {}, VINCI_PLACE) {
  vinci_detail::RefuseNz<isDataFormatNZ>();
  vinci_detail::SoftmaxKind kind = vinci_detail::KindOf(config);
  kind.update = isUpdate;
  kind.divide = false;
  vinci_detail::Softmax<T, S>(
      {dstTensor, srcTensor, expMaxTensor, expSumTensor, maxTensor, inExpSumTensor, inMaxTensor}, kind, sharedTmpBuffer,
      tiling, softmaxShapeInfo, place);
}
template <typename T, bool isUpdate = false, bool isReuseSource = false, bool isBasicBlock = false,
          bool isDataFormatNZ = false, const SoftmaxConfig& config = SOFTMAX_DEFAULT_CFG, typename S>
void SoftmaxFlashV2(const LocalTensor<T>& dstTensor, const LocalTensor<S>& expSumTensor,
                    const LocalTensor<S>& maxTensor, const LocalTensor<T>& srcTensor,
                    const LocalTensor<T>& expMaxTensor, const LocalTensor<S>& inExpSumTensor,
                    const LocalTensor<S>& inMaxTensor, const SoftMaxTiling& tiling,
                    const SoftMaxShapeInfo& softmaxShapeInfo = {}, VINCI_PLACE) {
  SoftmaxFlashV2<T, isUpdate, isReuseSource, isBasicBlock, isDataFormatNZ, config, S>(
      dstTensor, expSumTensor, maxTensor, srcTensor, expMaxTensor, inExpSumTensor, inMaxTensor,
      vinci_detail::StackBuffer(place), tiling, softmaxShapeInfo, place);
}

// Rows whose maximum has the bits `from` become `to`; says whether there was one.
template <typename T1, typename T2, bool isDataFormatNZ = false, uint8_t stepSizeMode = 0>
bool AdjustSoftMaxRes(const LocalTensor<T1>& softMaxRes, const LocalTensor<T2>& maxTensor, const uint32_t from,
                      const T1 to, const SoftMaxShapeInfo& softmaxShapeInfo, VINCI_PLACE) {
  vinci_detail::RefuseNz<isDataFormatNZ>();
  TPipe::Order(HardEvent::V_S, place);
  bool any = false;
  for (uint32_t row = 0; row < softmaxShapeInfo.srcM; ++row) {
    if (vinci_detail::BitsOf(maxTensor.GetValue(row * (ONE_BLK_SIZE / sizeof(T2)), place)) != from) continue;
    Duplicate(softMaxRes[row * softmaxShapeInfo.srcK], to, static_cast<int32_t>(softmaxShapeInfo.srcK), place);
    any = true;
  }
  if (any) vinci_detail::IssueBarrier(PIPE_V, place);
  return any;
}

}  // namespace AscendC
