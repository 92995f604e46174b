// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/copy.h"

// DataCopy of slices of tensors of up to 8 dimensions, made of copies of rows. Documentation: Ascend C API, data
// movement, slices.
namespace AscendC {

// From startIndex to endIndex; in the first dimension pieces of burstLen blocks of 32 bytes with `stride` elements
// between them, in others single indices with `stride` others between them. shapeValue is the size of the dimension.
struct SliceInfo {
  uint32_t startIndex = 0, endIndex = ONE_BLK_SIZE - 1, stride = 0, burstLen = ONE_BLK_SIZE, shapeValue = 0;
};

namespace vinci_detail {
template <typename T>
class SliceWalk {
 public:
  SliceWalk(const SliceInfo* dst, const SliceInfo* src, uint32_t dims, Place place)
      : dst_(dst), src_(src), dims_(dims), place_(place) {
    if (dims == 0 || dims > 8) ::vinci::ascendc::wrong("DataCopy of slices: 1 to 8 dimensions", place);
  }
  // Calls copy(offset in dst, offset in src, pieces) for each row of pieces.
  template <typename F>
  void ForEach(F&& copy) const {
    const uint32_t piece = src_[0].burstLen * ONE_BLK_SIZE / sizeof(T);
    const uint32_t count = src_[0].endIndex - src_[0].startIndex + 1 + src_[0].stride;
    if (piece == 0 || count % (piece + src_[0].stride) != 0)
      ::vinci::ascendc::wrong("DataCopy of slices: the pieces do not fill the slice", place_);
    Walk(dims_ - 1, 0, 0, count / (piece + src_[0].stride), copy);
  }
  uint32_t bytes() const { return src_[0].burstLen * ONE_BLK_SIZE; }

 private:
  static uint64_t Pitch(const SliceInfo* info, uint32_t dim) {
    uint64_t pitch = 1;
    for (uint32_t i = 0; i < dim; ++i)
      pitch *= info[i].shapeValue;
    return pitch;
  }
  template <typename F>
  void Walk(uint32_t dim, uint64_t to, uint64_t from, uint32_t pieces, F&& copy) const {
    if (dim == 0) return copy(to + dst_[0].startIndex, from + src_[0].startIndex, pieces);
    uint64_t d = dst_[dim].startIndex;
    for (uint64_t s = src_[dim].startIndex; s <= src_[dim].endIndex; s += src_[dim].stride + 1) {
      ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
      Walk(dim - 1, to + d * Pitch(dst_, dim), from + s * Pitch(src_, dim), pieces, copy);
      d += dst_[dim].stride + 1;
    }
  }

  const SliceInfo *dst_, *src_;
  uint32_t dims_;
  Place place_;
};
}  // namespace vinci_detail

template <typename T>
void DataCopy(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const SliceInfo dstSliceInfo[],
              const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1, VINCI_PLACE) {
  const vinci_detail::SliceWalk<T> walk(dstSliceInfo, srcSliceInfo, dimValue, place);
  walk.ForEach([&](uint64_t to, uint64_t from, uint32_t pieces) {
    DataCopyPad(dst[static_cast<uint32_t>(to)], src[from],
                DataCopyExtParams(static_cast<uint16_t>(pieces), walk.bytes(), srcSliceInfo[0].stride * sizeof(T),
                                  dstSliceInfo[0].stride * sizeof(T) / ONE_BLK_SIZE, 0),
                DataCopyPadExtParams<T>(), place);
  });
}
template <typename T>
void DataCopy(const GlobalTensor<T>& dst, const LocalTensor<T>& src, const SliceInfo dstSliceInfo[],
              const SliceInfo srcSliceInfo[], const uint32_t dimValue = 1, VINCI_PLACE) {
  const vinci_detail::SliceWalk<T> walk(dstSliceInfo, srcSliceInfo, dimValue, place);
  walk.ForEach([&](uint64_t to, uint64_t from, uint32_t pieces) {
    DataCopyPad(
        dst[to], src[static_cast<uint32_t>(from)],
        DataCopyExtParams(static_cast<uint16_t>(pieces), walk.bytes(),
                          srcSliceInfo[0].stride * sizeof(T) / ONE_BLK_SIZE, dstSliceInfo[0].stride * sizeof(T), 0),
        place);
  });
}

}  // namespace AscendC
