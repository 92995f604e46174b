// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/elements.h"
#include "ascendc/advanced/row_sizes.h"
#include "ascendc/layout.h"
#include "ascendc/sort.h"

// The largest or smallest k elements of rows, by a full sort of each row. Documentation: Ascend C API, high-level API,
// TopK.
namespace AscendC {

struct TopKInfo {
  int32_t outter = 1, inner = 0, n = 0;
};

namespace vinci_detail {
// Buffers in the temporary memory: indices, negated values, and records twice.
template <typename T>
class TopKRows {
 public:
  TopKRows(const LocalTensor<uint8_t>& tmp, uint32_t elements, Place place) : place_(place) {
    if (tmp.GetLength() < TopKBytes(elements, sizeof(T)))
      ::vinci::ascendc::wrong("TopK: the temporary memory is too small; TopKTilingFunc says what is needed", place);
    index_ = tmp.ReinterpretCast<int32_t>();
    values_ = tmp[elements * 4].template ReinterpretCast<T>();
    records_ = tmp[elements * (4 + sizeof(T))].template ReinterpretCast<T>();
    spare_ = records_[elements * kRecordElements<T>];
  }
  // 0, 1 .. in `rows` rows.
  LocalTensor<int32_t> Count(uint32_t columns, uint32_t rows) const {
    CreateVecIndex(index_, int32_t{0}, columns, place_);
    IssueBarrier(PIPE_V, place_);
    for (uint32_t row = 1; row < rows; ++row)
      CopyElements(LocalTensor<int32_t>(index_[row * columns]), index_, columns, place_);
    IssueBarrier(PIPE_V, place_);
    return index_;
  }
  // Smallest elements are the largest of the negated ones.
  LocalTensor<T> Ordered(const LocalTensor<T>& src, uint32_t elements, bool largest) const {
    if (largest) return src;
    Muls(values_, src, static_cast<T>(-1), static_cast<int32_t>(elements), place_);
    IssueBarrier(PIPE_V, place_);
    return values_;
  }
  void SortRow(const LocalTensor<T>& src, const LocalTensor<int32_t>& index, uint32_t elements) {
    Sort<T, true>(records_, src, index.ReinterpretCast<uint32_t>(), spare_, static_cast<int32_t>(elements / 32),
                  place_);
    IssueBarrier(PIPE_V, place_);
  }
  void SortEach32(const LocalTensor<T>& src, const LocalTensor<int32_t>& index, uint32_t rows) const {
    for (uint32_t first = 0; first < rows; first += 255) {
      const uint32_t n = rows - first < 255 ? rows - first : 255;
      Sort32(records_[first * 32 * kRecordElements<T>], src[first * 32],
             index[first * 32].template ReinterpretCast<uint32_t>(), static_cast<int32_t>(n), place_);
    }
    IssueBarrier(PIPE_V, place_);
  }
  // The first k records of each of `rows` rows of 32 records, or of one row.
  void Take(const LocalTensor<T>& values, const LocalTensor<int32_t>& indices, uint32_t k, uint32_t rows,
            bool largest) const {
    const GatherMaskParams each{1, static_cast<uint16_t>(rows), 8, 0};
    constexpr uint8_t kOdd = 2, kValues = sizeof(T) == 4 ? 1 : 3;
    uint64_t kept = 0;
    GatherMask(values, records_, kValues, true, k * kRecordElements<T>, each, kept, place_);
    GatherMask(indices.ReinterpretCast<uint32_t>(), records_.template ReinterpretCast<uint32_t>(), kOdd, true, k * 2,
               each, kept, place_);
    IssueBarrier(PIPE_V, place_);
    if (!largest) Muls(values, values, static_cast<T>(-1), static_cast<int32_t>(k * rows), place_);
    IssueBarrier(PIPE_V, place_);
  }

 private:
  LocalTensor<int32_t> index_;
  LocalTensor<T> values_, records_, spare_;
  Place place_;
};
}  // namespace vinci_detail

template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          enum TopKMode topkMode = TopKMode::TOPK_NORMAL>
void TopK(const LocalTensor<T>& dstValueLocal, const LocalTensor<int32_t>& dstIndexLocal,
          const LocalTensor<T>& srcLocal, const LocalTensor<int32_t>& srcIndexLocal,
          [[maybe_unused]] const LocalTensor<bool>& finishLocal, const LocalTensor<uint8_t>& tmpLocal, const int32_t k,
          const TopkTiling& /*tilling*/, const TopKInfo& topKInfo, const bool isLargest = true, VINCI_PLACE) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const auto rows = static_cast<uint32_t>(topKInfo.outter), inner = static_cast<uint32_t>(topKInfo.inner);
  const auto wanted = static_cast<uint32_t>(k);
  if constexpr (topkMode == TopKMode::TOPK_NSMALL) {
    // Programs choose the mode at run time, and then instantiate both.
    if constexpr (isHasfinish) ::vinci::ascendc::wrong("TopK of rows of 32: rows cannot be excluded", place);
    vinci_detail::TopKRows<T> x(tmpLocal, rows * inner, place);
    x.SortEach32(x.Ordered(srcLocal, rows * inner, isLargest), isInitIndex ? srcIndexLocal : x.Count(inner, rows),
                 rows);
    x.Take(dstValueLocal, dstIndexLocal, wanted, rows, isLargest);
  } else {
    vinci_detail::TopKRows<T> x(tmpLocal, inner, place);
    const LocalTensor<int32_t> index = isInitIndex ? srcIndexLocal : x.Count(inner, 1);
    constexpr uint32_t kBlock = ONE_BLK_SIZE / sizeof(T);
    const uint32_t value_row = (wanted + kBlock - 1) / kBlock * kBlock, index_row = (wanted + 7) / 8 * 8;
    for (uint32_t row = 0; row < rows; ++row) {
      x.SortRow(x.Ordered(srcLocal[row * inner], inner, isLargest), index, inner);
      x.Take(dstValueLocal[row * value_row], dstIndexLocal[row * index_row], wanted, 1, isLargest);
      if constexpr (isHasfinish) {
        if (finishLocal.GetValue(row, place)) Duplicate(dstIndexLocal[row * index_row], topKInfo.n, k, place);
      }
    }
    vinci_detail::IssueBarrier(PIPE_V, place);
  }
}
template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          enum TopKMode topkMode = TopKMode::TOPK_NORMAL>
void TopK(const LocalTensor<T>& dstValueLocal, const LocalTensor<int32_t>& dstIndexLocal,
          const LocalTensor<T>& srcLocal, const LocalTensor<int32_t>& srcIndexLocal,
          const LocalTensor<bool>& finishLocal, const int32_t k, const TopkTiling& tilling, const TopKInfo& topKInfo,
          const bool isLargest = true, VINCI_PLACE) {
  TopK<T, isInitIndex, isHasfinish, isReuseSrc, topkMode>(dstValueLocal, dstIndexLocal, srcLocal, srcIndexLocal,
                                                          finishLocal, vinci_detail::StackBuffer(place), k, tilling,
                                                          topKInfo, isLargest, place);
}

}  // namespace AscendC
