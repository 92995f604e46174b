// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/elements.h"
#include "ascendc/coordinate.h"
#include "ascendc/layout.h"

// TransData: tensors NCDHW to formats whose blocks are 16 channels of a pixel, and back. Documentation: Ascend C API,
// high-level API, tensor transformation, TransData.
namespace AscendC {

struct TransDataConfig {
  DataFormat srcFormat;
  DataFormat dstFormat;
};
template <typename T, typename U>
struct TransDataParams {
  T srcLayout;
  U dstLayout;
};

namespace vinci_detail {
constexpr uint32_t kTransDataBytes = 17 * ONE_BLK_SIZE;  // a block of zeros, and 16 that are only written

// 16 channels of 16 pixels at a time. NCDHW has the pixels of a channel as a row that fills whole blocks.
template <typename T>
class ChannelBlocks {
 public:
  ChannelBlocks(const LocalTensor<uint8_t>& tmp, uint32_t n, uint32_t c, uint32_t d, uint32_t hw, bool fractal,
                Place place)
      : n_(n), c_(c), d_(d), hw_(hw), fractal_(fractal), place_(place) {
    static_assert(sizeof(T) == 2, "TransData: elements of 16 bits");
    if (tmp.GetLength() < kTransDataBytes)
      ::vinci::ascendc::wrong("the temporary memory is too small; the host's function for its size says what is needed",
                              place);
    zeros_ = tmp.Address();
    spare_ = zeros_ + ONE_BLK_SIZE;
    Duplicate(tmp.template ReinterpretCast<T>(), static_cast<T>(0), static_cast<int32_t>(kEdge), place);
    IssueBarrier(PIPE_V, place);
  }
  void ToBlocks(const LocalTensor<T>& blocks, const LocalTensor<T>& rows) {
    Run(rows.Address(), blocks.Address(), true);
    if (!fractal_ || n_ % kEdge == 0) return;
    // The blocks of batches that are there to fill up.
    const uint32_t whole = Whole(n_);
    for (uint32_t i = 0; i < d_ * Groups(c_) * hw_; ++i)
      Duplicate(blocks[(i * whole + n_) * kEdge], static_cast<T>(0), static_cast<int32_t>((whole - n_) * kEdge),
                place_);
    IssueBarrier(PIPE_V, place_);
  }
  void FromBlocks(const LocalTensor<T>& rows, const LocalTensor<T>& blocks) {
    Run(rows.Address(), blocks.Address(), false);
  }

 private:
  static constexpr uint32_t kEdge = 16;
  static uint32_t Groups(uint32_t of) { return (of + kEdge - 1) / kEdge; }
  static uint32_t Whole(uint32_t of) { return Groups(of) * kEdge; }

  void Run(uint32_t rows, uint32_t blocks, bool to_blocks) {
    for (uint32_t n = 0; n < n_; ++n) {
      for (uint32_t d = 0; d < d_; ++d) {
        for (uint32_t c1 = 0; c1 < Groups(c_); ++c1) {
          ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
          const uint32_t pixels =
              fractal_ ? (d * Groups(c_) + c1) * hw_ * Whole(n_) + n : ((n * d_ + d) * Groups(c_) + c1) * hw_;
          Channels(rows, blocks + pixels * ONE_BLK_SIZE, n, d, c1 * kEdge, to_blocks);
        }
      }
    }
    IssueBarrier(PIPE_V, place_);
  }
  // All pixels of 16 channels. Where some of them are missing, a group of pixels is an instruction of its own.
  void Channels(uint32_t rows, uint32_t blocks, uint32_t n, uint32_t d, uint32_t c, bool to_blocks) {
    const uint32_t pitch = (fractal_ ? Whole(n_) : 1) * ONE_BLK_SIZE, groups = Groups(hw_);
    const uint32_t whole = hw_ / kEdge, at_once = c + kEdge <= c_ && whole > 0 ? whole : 1;
    for (uint32_t g = 0; g < groups; g += g < whole ? at_once : 1) {
      uint64_t row[kEdge], block[kEdge];
      for (uint32_t i = 0; i < kEdge; ++i) {
        const uint32_t channel = (n * c_ + c + i) * d_ + d;
        row[i] = c + i < c_ ? rows + (channel * groups + g) * ONE_BLK_SIZE : Missing(i, to_blocks);
        const uint32_t pixel = g * kEdge + i;
        block[i] = pixel < hw_ ? blocks + pixel * pitch : Missing(i, !to_blocks);
      }
      const uint32_t repeats = g < whole ? at_once : 1;
      TransDataTo5HDParams p;
      p.repeatTimes = static_cast<uint8_t>(repeats);
      if (repeats > 1) {
        const auto of_blocks = static_cast<uint16_t>(kEdge * pitch / ONE_BLK_SIZE);
        p.dstRepStride = to_blocks ? of_blocks : 1;
        p.srcRepStride = to_blocks ? 1 : of_blocks;
      }
      TransDataTo5HD<T>(to_blocks ? block : row, to_blocks ? row : block, p, place_);
    }
  }
  // In place of block i that is not there: zeros to be read, or a spare one to be written.
  uint64_t Missing(uint32_t i, bool source) const { return source ? zeros_ : spare_ + i * ONE_BLK_SIZE; }

  uint32_t n_, c_, d_, hw_;
  bool fractal_;
  Place place_;
  uint32_t zeros_ = 0, spare_ = 0;
};

template <typename T, typename Layout>
ChannelBlocks<T> BlocksOf(const LocalTensor<uint8_t>& tmp, const Layout& ncdhw, bool fractal, Place place) {
  const auto& s = ncdhw.GetShape();
  static_assert(std::tuple_size_v<std::decay_t<decltype(s)>> == 5, "TransData: the shape of NCDHW has five dimensions");
  const auto dim = [](const auto& x) { return static_cast<uint32_t>(x); };
  const uint32_t hw = dim(std::get<3>(s)) * dim(std::get<4>(s));
  return {tmp, dim(std::get<0>(s)), dim(std::get<1>(s)), dim(std::get<2>(s)), hw, fractal, place};
}
}  // namespace vinci_detail

template <const TransDataConfig& config, typename T, typename U, typename S>
void TransData(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor,
               const LocalTensor<uint8_t>& sharedTmpBuffer, const TransDataParams<U, S>& params, VINCI_PLACE) {
  constexpr bool forth = config.srcFormat == DataFormat::NCDHW, back = config.dstFormat == DataFormat::NCDHW;
  constexpr DataFormat blocks = forth ? config.dstFormat : config.srcFormat;
  static_assert(forth != back && (blocks == DataFormat::NDC1HWC0 || blocks == DataFormat::FRACTAL_Z_3D),
                "TransData: NCDHW to NDC1HWC0 or FRACTAL_Z_3D, or back");
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  constexpr bool fractal = blocks == DataFormat::FRACTAL_Z_3D;
  if constexpr (forth) {
    vinci_detail::BlocksOf<T>(sharedTmpBuffer, params.srcLayout, fractal, place).ToBlocks(dstTensor, srcTensor);
  } else {
    vinci_detail::BlocksOf<T>(sharedTmpBuffer, params.dstLayout, fractal, place).FromBlocks(dstTensor, srcTensor);
  }
}
template <const TransDataConfig& config, typename T, typename U, typename S>
void TransData(const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor, const TransDataParams<U, S>& params,
               VINCI_PLACE) {
  TransData<config>(dstTensor, srcTensor, vinci_detail::StackBuffer(place), params, place);
}

}  // namespace AscendC
