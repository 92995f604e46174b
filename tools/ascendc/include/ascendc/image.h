// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/load.h"

// LoadData of images: parts of the image-to-columns matrix of a feature map NC1HWC0 in L1. Documentation: Ascend C API,
// matrix computation, LoadData (3D) and its settings.
namespace AscendC {

constexpr uint32_t PAD_SIZE = 4;
enum class FmatrixMode : uint8_t { FMATRIX_LEFT = 0, FMATRIX_RIGHT = 1 };

// Version 1, of architectures before 220x: repeatTime fractals of one point of the filter each.
template <typename T>
struct LoadData3DParamsV1 {
  LoadData3DParamsV1() = default;
  constexpr LoadData3DParamsV1(const uint8_t padding[PAD_SIZE], uint16_t height, uint16_t width, uint16_t c1,
                               uint8_t fetch_w, uint8_t fetch_h, int16_t left_top_w, int16_t left_top_h,
                               uint8_t stride_w, uint8_t stride_h, uint8_t filter_w, uint8_t filter_h,
                               uint8_t dilation_w, uint8_t dilation_h, uint8_t jump, uint8_t mode, uint8_t repeats,
                               uint8_t c_size, T pad)
      : l1H(height),
        l1W(width),
        c1Index(c1),
        fetchFilterW(fetch_w),
        fetchFilterH(fetch_h),
        leftTopW(left_top_w),
        leftTopH(left_top_h),
        strideW(stride_w),
        strideH(stride_h),
        filterW(filter_w),
        filterH(filter_h),
        dilationFilterW(dilation_w),
        dilationFilterH(dilation_h),
        jumpStride(jump),
        repeatMode(mode),
        repeatTime(repeats),
        cSize(c_size),
        padValue(pad) {
    std::memcpy(padList, padding, PAD_SIZE);
  }
  uint8_t padList[PAD_SIZE]{};
  uint16_t l1H = 0, l1W = 0, c1Index = 0;
  uint8_t fetchFilterW = 0, fetchFilterH = 0;
  int16_t leftTopW = 0, leftTopH = 0;
  uint8_t strideW = 0, strideH = 0, filterW = 0, filterH = 0, dilationFilterW = 0, dilationFilterH = 0;
  uint8_t jumpStride = 0, repeatMode = 0, repeatTime = 0, cSize = 0;
  T padValue{};
};

// Version 2: rows mStartPt.. and columns kStartPt.. of the matrix.
template <typename T>
struct LoadData3DParamsV2 {
  LoadData3DParamsV2() = default;
  constexpr LoadData3DParamsV2(const uint8_t padding[PAD_SIZE], uint16_t height, uint16_t width, uint16_t channels,
                               uint16_t k_extension, uint16_t m_extension, uint16_t k_start, uint16_t m_start,
                               uint8_t stride_w, uint8_t stride_h, uint8_t filter_w, uint8_t filter_h,
                               uint8_t dilation_w, uint8_t dilation_h, bool transpose, bool small_k, T pad,
                               bool filter_size_w = false, bool filter_size_h = false, bool right = false)
      : l1H(height),
        l1W(width),
        channelSize(channels),
        kExtension(k_extension),
        mExtension(m_extension),
        kStartPt(k_start),
        mStartPt(m_start),
        strideW(stride_w),
        strideH(stride_h),
        filterW(filter_w),
        filterH(filter_h),
        dilationFilterW(dilation_w),
        dilationFilterH(dilation_h),
        enTranspose(transpose),
        enSmallK(small_k),
        padValue(pad),
        filterSizeW(filter_size_w),
        filterSizeH(filter_size_h),
        fMatrixCtrl(right) {
    std::memcpy(padList, padding, PAD_SIZE);
  }
  uint8_t padList[PAD_SIZE]{};
  uint16_t l1H = 0, l1W = 0, channelSize = 0, kExtension = 0, mExtension = 0, kStartPt = 0, mStartPt = 0;
  uint8_t strideW = 1, strideH = 1, filterW = 1, filterH = 1, dilationFilterW = 1, dilationFilterH = 1;
  bool enTranspose = false, enSmallK = false;
  T padValue{};
  bool filterSizeW = false, filterSizeH = false, fMatrixCtrl = false;
};

// The same packed. extConfig: kExtension, mExtension, kStartPt, mStartPt, 16 bits each from the lowest on;
// filterConfig: strides, size and dilation of the filter in the order of V2, 8 bits each.
struct LoadData3DParamsV2Pro {
  LoadData3DParamsV2Pro() = default;
  constexpr LoadData3DParamsV2Pro(uint16_t channels, bool transpose, bool small_k, bool filter_size_w,
                                  bool filter_size_h, bool right, uint64_t extension, uint64_t filter)
      : channelSize(channels),
        enTranspose(transpose),
        enSmallK(small_k),
        filterSizeW(filter_size_w),
        filterSizeH(filter_size_h),
        fMatrixCtrl(right),
        extConfig(extension),
        filterConfig(filter) {}
  uint16_t channelSize = 0;
  bool enTranspose = false, enSmallK = false, filterSizeW = false, filterSizeH = false, fMatrixCtrl = false;
  uint64_t extConfig = 0, filterConfig = 0x10101010101;
};

struct LoadDataRepeatParam {
  LoadDataRepeatParam() = default;
  LoadDataRepeatParam(uint16_t stride, uint8_t times, uint8_t mode)
      : repeatStride(stride), repeatTime(times), repeatMode(mode) {}
  uint16_t repeatStride = 0;
  uint8_t repeatTime = 1, repeatMode = 0;
};

// Whether LoadData sets the feature map and the padding value itself.
struct IsResetLoad3dConfig {
  bool isSetFMatrix = true, isSetPadding = true;
};
inline constexpr IsResetLoad3dConfig IS_RESER_LOAD3D_DEFAULT_CONFIG = {true, true};

inline void SetFmatrix(uint16_t l1H, uint16_t l1W, const uint8_t padList[PAD_SIZE], const FmatrixMode& fmatrixMode,
                       VINCI_PLACE) {
  static ::vinci::ascendc::Insn left("set_fmatrix"), right("set_fmatrix_b");
  uint64_t bits = l1W | uint64_t{l1H} << 16;
  for (uint32_t i = 0; i < PAD_SIZE; ++i)
    bits |= uint64_t{padList[i]} << (32 + 8 * i);
  ::vinci::ascendc::issue(fmatrixMode == FmatrixMode::FMATRIX_RIGHT ? right : left, {bits}, place);
}
template <typename T>
void SetLoadDataPaddingValue(const T padValue, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("set_padding");
  ::vinci::ascendc::issue(insn, {vinci_detail::BitsOf(padValue)}, place);
}
// The same under the names of older headers.
inline void Load3DSetFMatrixCal(uint16_t l1H, uint16_t l1W, const uint8_t padList[PAD_SIZE], VINCI_PLACE) {
  SetFmatrix(l1H, l1W, padList, FmatrixMode::FMATRIX_LEFT, place);
}
inline void Load3DSetFMatrixBCal(uint16_t l1H, uint16_t l1W, const uint8_t padList[PAD_SIZE], VINCI_PLACE) {
  SetFmatrix(l1H, l1W, padList, FmatrixMode::FMATRIX_RIGHT, place);
}
template <typename T>
void Load3DSetPaddingCal(const T padValue, VINCI_PLACE) {
  SetLoadDataPaddingValue(padValue, place);
}
inline void SetLoadDataBoundary(uint32_t boundaryValue, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("set_l1_3d_size");
  ::vinci::ascendc::issue(insn, {boundaryValue}, place);
}
inline void SetLoadDataRepeat(const LoadDataRepeatParam& repeatParams, VINCI_PLACE) {
  static ::vinci::ascendc::Insn insn("set_l3d_rpt");
  ::vinci::ascendc::issue(
      insn,
      {repeatParams.repeatStride | uint64_t{repeatParams.repeatTime} << 16 | uint64_t{repeatParams.repeatMode} << 24},
      place);
}

namespace vinci_detail {
inline void CheckSmallK(bool enabled, Place place) {
  if (enabled) ::vinci::ascendc::unsupported("enSmallK of LoadData", place);
}
}  // namespace vinci_detail

template <typename T, const IsResetLoad3dConfig& defaultConfig = IS_RESER_LOAD3D_DEFAULT_CONFIG, typename U = T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData3DParamsV1<U>& p, VINCI_PLACE) {
  static_assert(std::is_same_v<T, U>, "LoadData: padValue has the type of the tensors");
  constexpr const char* type = sizeof(T) == 1 ? "b8" : "b16";
  static ::vinci::ascendc::Insn to_l0a("img2col_cbuf_to_ca", type), to_l0b("img2col_cbuf_to_cb", type),
      to_ub("img2col_cbuf_to_ub", type);
  const vinci_detail::LoadInsns insns{to_l0a, to_l0b, "LoadData of an image to a position other than A2, B2 and UB"};
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (defaultConfig.isSetFMatrix) SetFmatrix(p.l1H, p.l1W, p.padList, FmatrixMode::FMATRIX_LEFT, place);
  if constexpr (defaultConfig.isSetPadding) SetLoadDataPaddingValue(p.padValue, place);
  ::vinci::ascendc::issue(
      vinci_detail::MemoryOf(dst.GetPosition()) == ::vinci::ascendc::Memory::ub ? to_ub
                                                                                : insns.To(dst.GetPosition(), place),
      {dst.Address(), src.Address(), p.fetchFilterW, p.fetchFilterH, static_cast<uint64_t>(p.leftTopW),
       static_cast<uint64_t>(p.leftTopH), p.c1Index, p.strideW, p.strideH, p.filterW, p.filterH, p.dilationFilterW,
       p.dilationFilterH, p.jumpStride, p.repeatMode, p.repeatTime, p.cSize},
      place);
}

namespace vinci_detail {
// The instruction of version 2, after its settings.
template <typename T, typename Params>
void IssueImage(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Params& p, Place place) {
  constexpr bool b4 = std::is_same_v<T, int4b_t>;
  constexpr const char* type = b4 ? "s4" : sizeof(T) == 1 ? "b8" : sizeof(T) == 2 ? "b16" : "b32";
  static ::vinci::ascendc::Insn to_l0a(b4 ? "img2colv2_cbuf_to_ca_s4" : "img2colv2_cbuf_to_ca", type),
      to_l0b("img2colv2_cbuf_to_cb", type), to_ub("img2colv2_cbuf_to_ub", type);
  const LoadInsns insns{to_l0a, to_l0b, "LoadData of an image to a position other than A2, B2 and UB"};
  CheckSmallK(p.enSmallK, place);
  ::vinci::ascendc::issue(
      MemoryOf(dst.GetPosition()) == ::vinci::ascendc::Memory::ub ? to_ub : insns.To(dst.GetPosition(), place),
      {dst.Address(), src.Address(), p.kExtension, p.mExtension, p.kStartPt, p.mStartPt, p.strideW, p.strideH,
       p.filterW, p.filterH, p.dilationFilterW, p.dilationFilterH, p.filterSizeW, p.filterSizeH, p.enTranspose,
       p.fMatrixCtrl, p.channelSize},
      place);
}
}  // namespace vinci_detail

template <typename T, const IsResetLoad3dConfig& defaultConfig = IS_RESER_LOAD3D_DEFAULT_CONFIG, typename U = T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData3DParamsV2<U>& loadDataParams,
              VINCI_PLACE) {
  static_assert(std::is_same_v<T, U>, "LoadData: padValue has the type of the tensors");
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  if constexpr (defaultConfig.isSetFMatrix) {
    SetFmatrix(loadDataParams.l1H, loadDataParams.l1W, loadDataParams.padList,
               loadDataParams.fMatrixCtrl ? FmatrixMode::FMATRIX_RIGHT : FmatrixMode::FMATRIX_LEFT, place);
  }
  if constexpr (defaultConfig.isSetPadding) SetLoadDataPaddingValue(loadDataParams.padValue, place);
  vinci_detail::IssueImage(dst, src, loadDataParams, place);
}
template <typename T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData3DParamsV2Pro& loadDataParams,
              VINCI_PLACE) {
  const auto extension = [&](uint32_t i) { return static_cast<uint16_t>(loadDataParams.extConfig >> 16 * i); };
  const auto filter = [&](uint32_t i) { return static_cast<uint8_t>(loadDataParams.filterConfig >> 8 * i); };
  LoadData3DParamsV2<uint8_t> p;
  p.channelSize = loadDataParams.channelSize;
  p.kExtension = extension(0);
  p.mExtension = extension(1);
  p.kStartPt = extension(2);
  p.mStartPt = extension(3);
  p.strideW = filter(0);
  p.strideH = filter(1);
  p.filterW = filter(2);
  p.filterH = filter(3);
  p.dilationFilterW = filter(4);
  p.dilationFilterH = filter(5);
  p.enTranspose = loadDataParams.enTranspose;
  p.enSmallK = loadDataParams.enSmallK;
  p.filterSizeW = loadDataParams.filterSizeW;
  p.filterSizeH = loadDataParams.filterSizeH;
  p.fMatrixCtrl = loadDataParams.fMatrixCtrl;
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  vinci_detail::IssueImage(dst, src, p, place);
}
template <typename T, typename Params>
void LoadDataImpl(const LocalTensor<T>& dst, const LocalTensor<T>& src, const Params& params, VINCI_PLACE) {
  LoadData(dst, src, params, place);
}

}  // namespace AscendC
