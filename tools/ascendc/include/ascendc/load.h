// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/tensor.h"

// LoadData: fractals of 512 bytes from global memory or L1 into L0A and L0B; and Fill. Documentation: Ascend C API,
// matrix computation, moving in. The form for images is in image.h.
namespace AscendC {

// `repeatTimes` fractals, source fractal startIndex +- i * srcStride, to fractals i * (dstGap + 1).
struct LoadData2DParams {
  LoadData2DParams() = default;
  constexpr LoadData2DParams(uint16_t start, uint8_t repeats, uint16_t src_stride, uint8_t id, uint16_t dst_gap,
                             bool transpose, uint8_t mode)
      : startIndex(start),
        dstGap(dst_gap),
        srcStride(src_stride),
        ifTranspose(transpose),
        repeatTimes(repeats),
        sid(id),
        addrMode(mode) {}
  uint16_t startIndex = 0, dstGap = 0, srcStride = 0;
  bool ifTranspose = false;  // of each fractal; elements of 16 bits, L1 to L0A and L0B
  uint8_t repeatTimes = 0, sid = 0, addrMode = 0;
};

using LoadData2dParams = LoadData2DParams;  // an older spelling

// Fractals by rows and columns of the matrix: a load of other architectures.
struct LoadData2DParamsV2 {
  LoadData2DParamsV2() = default;
  constexpr LoadData2DParamsV2(uint32_t m_start, uint32_t k_start, uint16_t m_step, uint16_t k_step, int32_t src_stride,
                               uint16_t dst_stride, bool transpose, uint8_t id)
      : mStartPosition(m_start),
        kStartPosition(k_start),
        mStep(m_step),
        kStep(k_step),
        srcStride(src_stride),
        dstStride(dst_stride),
        ifTranspose(transpose),
        sid(id) {}
  uint32_t mStartPosition = 0, kStartPosition = 0;
  uint16_t mStep = 0, kStep = 0;
  int32_t srcStride = 0;
  uint16_t dstStride = 0;
  bool ifTranspose = false;
  uint8_t sid = 0;
};

// Squares of 64 x 64 elements of 4 bits, 32 x 32 of 8, 16 x 16 of 16 and 32 bits, transposed.
struct LoadData2dTransposeParams {
  LoadData2dTransposeParams() = default;
  constexpr LoadData2dTransposeParams(uint16_t start, uint8_t repeats, uint16_t src_stride, uint16_t dst_gap,
                                      uint16_t dst_fractal_gap, uint8_t mode = 0)
      : startIndex(start),
        repeatTimes(repeats),
        srcStride(src_stride),
        dstGap(dst_gap),
        dstFracGap(dst_fractal_gap),
        addrMode(mode) {}
  uint16_t startIndex = 0;
  uint8_t repeatTimes = 0;
  uint16_t srcStride = 0, dstGap = 0, dstFracGap = 0;
  uint8_t addrMode = 0;
};

// repeatTimes runs of blockNum blocks of 32 bytes (L1) or 512 bytes, dstGap blocks apart, of one value. Architectures
// before 220x have runs of one block of 512 bytes without gaps.
template <typename T>
struct InitConstValueParams {
  InitConstValueParams() = default;
  constexpr InitConstValueParams(uint16_t repeats, uint16_t blocks, uint16_t dst_gap, T value)
      : repeatTimes(repeats), blockNum(blocks), dstGap(dst_gap), initValue(value) {}
  constexpr InitConstValueParams(uint16_t repeats, T value) : repeatTimes(repeats), blockNum(1), initValue(value) {}
  uint16_t repeatTimes = 0, blockNum = 0, dstGap = 0;
  T initValue{};
};

namespace vinci_detail {
// The two destinations of a load, and how messages name the call.
struct LoadInsns {
  ::vinci::ascendc::Insn &to_l0a, &to_l0b;
  const char* call;

  ::vinci::ascendc::Insn& To(TPosition position, Place place) const {
    switch (MemoryOf(position)) {
      case ::vinci::ascendc::Memory::l0a: return to_l0a;
      case ::vinci::ascendc::Memory::l0b: return to_l0b;
      default: ::vinci::ascendc::unsupported(call, place);
    }
  }
};
}  // namespace vinci_detail

template <typename T>
void LoadData(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LoadData2DParams& loadDataParams,
              VINCI_PLACE) {
  constexpr bool b4 = std::is_same_v<T, int4b_t>;
  static ::vinci::ascendc::Insn to_l0a(b4 ? "load_cbuf_to_ca_s4" : "load_cbuf_to_ca"),
      to_l0b(b4 ? "load_cbuf_to_cb_s4" : "load_cbuf_to_cb");
  const vinci_detail::LoadInsns insns{to_l0a, to_l0b, "LoadData from L1 to a position other than A2 and B2"};
  if (vinci_detail::MemoryOf(src.GetPosition()) != ::vinci::ascendc::Memory::l1)
    ::vinci::ascendc::unsupported("LoadData from a position other than L1 and global memory", place);
  if (loadDataParams.ifTranspose && vinci_detail::kBitsOf<T> != 16)
    ::vinci::ascendc::wrong("LoadData: ifTranspose is of elements of 16 bits; LoadDataWithTranspose has others", place);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(
      insns.To(dst.GetPosition(), place),
      {dst.Address(), src.Address(), loadDataParams.startIndex, loadDataParams.repeatTimes, loadDataParams.srcStride, 0,
       loadDataParams.ifTranspose, loadDataParams.dstGap, loadDataParams.addrMode},
      place);
}

template <typename T>
void LoadData(const LocalTensor<T>& dst, const GlobalTensor<T>& src, const LoadData2DParams& loadDataParams,
              VINCI_PLACE) {
  static ::vinci::ascendc::Insn to_l0a("load_gm_to_ca"), to_l0b("load_gm_to_cb"), to_l1("load_gm_to_cbuf");
  const vinci_detail::LoadInsns insns{to_l0a, to_l0b,
                                      "LoadData from global memory to a position other than A1, B1, A2 and B2"};
  if (loadDataParams.ifTranspose)
    ::vinci::ascendc::wrong("LoadData: ifTranspose is of loads from L1, not from global memory", place);
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(vinci_detail::MemoryOf(dst.GetPosition()) == ::vinci::ascendc::Memory::l1
                              ? to_l1
                              : insns.To(dst.GetPosition(), place),
                          {dst.Address(), src.Address(), loadDataParams.startIndex, loadDataParams.repeatTimes,
                           loadDataParams.srcStride, 0, loadDataParams.dstGap, loadDataParams.addrMode},
                          place);
}

template <typename T, typename Source>
void LoadData(const LocalTensor<T>&, const Source&, const LoadData2DParamsV2&, VINCI_PLACE) {
  ::vinci::ascendc::unsupported("LoadData with LoadData2DParamsV2, which this architecture does not have,", place);
}

template <typename T>
void LoadDataWithTranspose(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                           const LoadData2dTransposeParams& loadDataParams, VINCI_PLACE) {
  constexpr bool b4 = std::is_same_v<T, int4b_t>;
  constexpr const char* type = b4 ? "s4" : sizeof(T) == 1 ? "b8" : sizeof(T) == 2 ? "b16" : "b32";
  static ::vinci::ascendc::Insn to_l0a("load_cbuf_to_ca_transpose", type),
      to_l0b(b4 ? "load_cbuf_to_cb_transpose_s4" : "load_cbuf_to_cb_transpose", type);
  const vinci_detail::LoadInsns insns{to_l0a, to_l0b, "LoadDataWithTranspose to a position other than A2 and B2"};
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(
      insns.To(dst.GetPosition(), place),
      {dst.Address(), src.Address(), loadDataParams.startIndex, loadDataParams.repeatTimes, loadDataParams.srcStride,
       loadDataParams.dstGap, loadDataParams.addrMode, loadDataParams.dstFracGap},
      place);
}

// Fractals of sparse weights and the 128 bytes of indices of each, for MmadWithSparse. Of the parameters, startIndex
// and repeatTimes have an effect.
template <typename T = int8_t, typename U = uint8_t>
void LoadDataWithSparse(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<U>& idx,
                        const LoadData2DParams& loadDataParam, VINCI_PLACE) {
  static_assert(std::is_same_v<T, int8_t> && std::is_same_v<U, uint8_t>, "LoadDataWithSparse is of int8_t");
  static ::vinci::ascendc::Insn insn("load_cbuf_to_cb_sp");
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(
      insn, {dst.Address(), src.Address(), idx.Address(), loadDataParam.startIndex, loadDataParam.repeatTimes}, place);
}

template <typename T>
void Fill(const LocalTensor<T>& dst, const InitConstValueParams<T>& initConstValueParams, VINCI_PLACE) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4, "Fill: elements of 16 or 32 bits");
  constexpr bool bf16 = std::is_same_v<T, bfloat16_t>;
  constexpr const char* type = bf16 ? "bf16" : sizeof(T) == 2 ? "b16" : "b32";
  static ::vinci::ascendc::Insn to_l0a(bf16 ? "create_ca_matrix_bf16" : "create_ca_matrix", type),
      to_l0b(bf16 ? "create_cb_matrix_bf16" : "create_cb_matrix", type),
      to_l1(bf16 ? "create_cbuf_matrix_bf16" : "create_cbuf_matrix", type);
  const vinci_detail::LoadInsns insns{to_l0a, to_l0b, "Fill of a position other than A1, B1, A2 and B2"};
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(
      vinci_detail::MemoryOf(dst.GetPosition()) == ::vinci::ascendc::Memory::l1 ? to_l1
                                                                                : insns.To(dst.GetPosition(), place),
      {dst.Address(), initConstValueParams.repeatTimes, vinci_detail::BitsOf(initConstValueParams.initValue),
       initConstValueParams.blockNum, initConstValueParams.dstGap},
      place);
}
// The older name of Fill.
template <typename T>
void InitConstValue(const LocalTensor<T>& dst, const InitConstValueParams<T>& initConstValueParams, VINCI_PLACE) {
  Fill(dst, initConstValueParams, place);
}

}  // namespace AscendC
