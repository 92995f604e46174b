// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/tensor.h"

// Mmad: the cube unit; and how it rounds f32 and walks C. Documentation: Ascend C API, matrix computation.
namespace AscendC {

struct MmadParams {
  MmadParams() = default;
  constexpr MmadParams(uint16_t rows, uint16_t columns, uint16_t depth, bool bias, int32_t fm_offset, bool sparse,
                       bool winograd_a, bool winograd_b)
      : m(rows),
        n(columns),
        k(depth),
        isBias(bias),
        fmOffset(fm_offset),
        enSsparse(sparse),
        enWinogradA(winograd_a),
        enWinogradB(winograd_b) {}
  constexpr MmadParams(uint16_t rows, uint16_t columns, uint16_t depth, uint8_t unit_flag, bool source, bool init)
      : m(rows), n(columns), k(depth), unitFlag(unit_flag), cmatrixSource(source), cmatrixInitVal(init) {}
  uint16_t m = 0, n = 0, k = 0;
  bool isBias = false;   // adds to what C holds
  int32_t fmOffset = 0;  // this and the next three have no effect
  bool enSsparse = false, enWinogradA = false, enWinogradB = false;
  uint8_t unitFlag = 0;
  bool kDirectionAlign = false;
  bool cmatrixSource = false;  // C begins as the bias table, unless it begins at zero
  bool cmatrixInitVal = true;  // C begins at zero
};

namespace vinci_detail {
// The form of mad for types of C, A and B; null where there is none.
template <typename C, typename A, typename B>
constexpr const char* MadForm() {
  if constexpr (std::is_same_v<C, float> && std::is_same_v<A, B>) {
    return std::is_same_v<A, half>         ? "f162f32"
           : std::is_same_v<A, bfloat16_t> ? "bf162f32"
           : std::is_same_v<A, float>      ? "f322f32"
                                           : nullptr;
  } else if constexpr (std::is_same_v<C, half> && std::is_same_v<A, half> && std::is_same_v<B, half>) {
    return "f162f16";
  } else if constexpr (std::is_same_v<C, int32_t> || std::is_same_v<C, uint32_t>) {
    if constexpr (std::is_same_v<A, B>) {
      return std::is_same_v<A, int8_t>    ? "s8"
             : std::is_same_v<A, uint8_t> ? "u8"
             : std::is_same_v<A, int4b_t> ? "s4"
                                          : nullptr;
    } else {
      return std::is_same_v<A, uint8_t> && std::is_same_v<B, int8_t> ? "u8s8" : nullptr;
    }
  } else {
    return nullptr;
  }
}

// `bias`: its address in the bias table, where C begins from it.
template <typename C, typename A, typename B>
void IssueMad(const LocalTensor<C>& c, const LocalTensor<A>& a, const LocalTensor<B>& b, const MmadParams& p,
              uint32_t bias, Place place) {
  constexpr const char* form = MadForm<C, A, B>();
  static_assert(form != nullptr, "Mmad: no cube unit multiplies these types");
  static ::vinci::ascendc::Insn insn("mad", form);
  const bool init = p.cmatrixInitVal && !p.isBias;
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
#if __NPU_ARCH__ == 2201
  ::vinci::ascendc::issue(insn,
                          {c.Address(), a.Address(), b.Address(), p.m, p.k, p.n, init, p.unitFlag, p.kDirectionAlign,
                           p.cmatrixSource, bias},
                          place);
#else
  if (p.cmatrixSource || p.kDirectionAlign || p.unitFlag != 0)
    ::vinci::ascendc::unsupported("cmatrixSource, kDirectionAlign or unitFlag of Mmad on this architecture", place);
  ::vinci::ascendc::issue(insn, {c.Address(), a.Address(), b.Address(), p.m, p.k, p.n, init}, place);
  static_cast<void>(bias);
#endif
}
}  // namespace vinci_detail

template <typename T, typename U, typename S>
void Mmad(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter,
          const MmadParams& mmadParams, VINCI_PLACE) {
  vinci_detail::IssueMad(dst, fm, filter, mmadParams, 0, place);
}
template <typename T, typename U, typename S>
void MmadImpl(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter,
              const MmadParams& mmadParams, VINCI_PLACE) {
  Mmad(dst, fm, filter, mmadParams, place);
}
// C begins as the bias: a row of the bias table, or C itself.
template <typename T, typename U, typename S, typename V>
void Mmad(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<S>& filter, const LocalTensor<V>& bias,
          const MmadParams& mmadParams, VINCI_PLACE) {
  MmadParams p = mmadParams;
  p.cmatrixInitVal = p.isBias = false;
  p.cmatrixSource = vinci_detail::MemoryOf(bias.GetPosition()) == ::vinci::ascendc::Memory::bt;
  if (!p.cmatrixSource &&
      (vinci_detail::MemoryOf(bias.GetPosition()) != ::vinci::ascendc::Memory::l0c || bias.Address() != dst.Address()))
    ::vinci::ascendc::unsupported("a bias of Mmad that is neither at C2 nor the result itself", place);
  vinci_detail::IssueMad(dst, fm, filter, p, bias.Address(), place);
}

// B has two weights for each four rows, which LoadDataWithSparse has brought with their indices.
template <typename T = int32_t, typename U = int8_t>
void MmadWithSparse(const LocalTensor<T>& dst, const LocalTensor<U>& fm, const LocalTensor<U>& filter,
                    const MmadParams& mmadParams, VINCI_PLACE) {
  static_assert(std::is_same_v<T, int32_t> && std::is_same_v<U, int8_t>, "MmadWithSparse is of int8_t, to int32_t");
  static ::vinci::ascendc::Insn insn("mad_sp");
  const MmadParams& p = mmadParams;
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  ::vinci::ascendc::issue(insn,
                          {dst.Address(), fm.Address(), filter.Address(), p.m, p.k, p.n, p.unitFlag, p.cmatrixSource,
                           p.cmatrixInitVal && !p.isBias},
                          place);
}

namespace vinci_detail {
// Bits of CTRL that the cube unit reads. Source: published documentation of SetCtrlSpr.
inline void SetCubeControl(uint32_t bit, bool value, Place place) {
  static ::vinci::ascendc::Insn get("get_ctrl"), set("set_ctrl");
  const uint64_t others = ::vinci::ascendc::read(get, place) & ~(uint64_t{1} << bit);
  ::vinci::ascendc::issue(set, {others | uint64_t{value} << bit}, place);
}
}  // namespace vinci_detail

enum class HF32Mode { ENABLE, DISABLE };
enum class HF32TransMode { NEAREST_ZERO, NEAREST_EVEN };
inline void SetHF32Mode(bool hf32Mode, VINCI_PLACE) { vinci_detail::SetCubeControl(46, hf32Mode, place); }
inline void SetHF32Mode(HF32Mode mode, VINCI_PLACE) {
  vinci_detail::SetCubeControl(46, mode == HF32Mode::ENABLE, place);
}
inline void SetHF32TransMode(bool hf32TransMode, VINCI_PLACE) {
  vinci_detail::SetCubeControl(47, hf32TransMode, place);
}
inline void SetHF32TransMode(HF32TransMode mode, VINCI_PLACE) {
  vinci_detail::SetCubeControl(47, mode == HF32TransMode::NEAREST_ZERO, place);
}
// The order in which results come out: true along N first. Bits do not depend on it.
inline void SetMMLayoutTransform(bool mmLayoutMode, VINCI_PLACE) {
  vinci_detail::SetCubeControl(51, mmLayoutMode, place);
}
inline void SetMMRowMajor(VINCI_PLACE) { vinci_detail::SetCubeControl(51, true, place); }
inline void SetMMColumnMajor(VINCI_PLACE) { vinci_detail::SetCubeControl(51, false, place); }

}  // namespace AscendC
