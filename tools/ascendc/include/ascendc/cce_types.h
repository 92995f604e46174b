// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string_view>
#include <type_traits>

#include "ascendc/language.h"

// Names and types that CCE intrinsics are called with. Source of the names: kernels and libraries that are public.
enum cache_line_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE };
enum dcci_dst_t { CACHELINE_ALL = 0, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum mem_dsb_t { DSB_ALL = 0, DSB_DDR, DSB_UB, DSB_SEQ };
// How copy_gm_to_cbuf fills; only PAD_NONE is modelled.
enum pad_t { PAD_NONE = 0, PAD_MODE1, PAD_MODE2, PAD_MODE3, PAD_MODE4, PAD_MODE5, PAD_MODE6, PAD_MODE7, PAD_MODE8 };
// The registers of block addresses that scatter_* instructions work on.
enum ub_addr8_t { VA0 = 0, VA1, VA2, VA3, VA4, VA5, VA6, VA7 };
// What vcmax and vcmin write.
enum Order_t { VALUE_INDEX = 0, INDEX_VALUE, ONLY_VALUE, ONLY_INDEX };
enum atomic_type_t { ATOMIC_NONE = 0, ATOMIC_F32, ATOMIC_F16, ATOMIC_S16, ATOMIC_S32, ATOMIC_S8, ATOMIC_BF16 };
enum atomic_op_t { ATOMIC_SUM = 0 };
// What FIXPIPE makes of a value. With a V one parameter for each column, from the FIXPIPE buffer; else one for all.
enum QuantMode_t : uint8_t {
  NoQuant = 0,
  F322F16 = 1,
  VREQ8 = 8,
  REQ8 = 9,
  VDEQF16 = 10,
  DEQF16 = 11,
  VSHIFTS322S16 = 12,
  SHIFTS322S16 = 13,
  F322BF16 = 16,
  VREQ4 = 21,
  REQ4 = 22,
  VQF322B8_PRE = 23,
  QF322B8_PRE = 24,
  VQF322S4_PRE = 25,
  QF322S4_PRE = 26,
  QF322F16_PRE = 32,  // from here on: names that no chip modelled here has
  VQF322F16_PRE,
  QF322BF16_PRE,
  VQF322BF16_PRE,
  QS322BF16_PRE,
  VQS322BF16_PRE,
  QF322F32_PRE,
  VQF322F32_PRE,
  QF322FP8_PRE,
  VQF322FP8_PRE,
  QF322HIF8_PRE,
  VQF322HIF8_PRE,
  QF162B8_PRE,
  VQF162B8_PRE,
  QF162S16_PRE,
  VQF162S16_PRE,
  DEQS16,
  VDEQS16
};
namespace __cce_scalar {
// The order in which load_* take fractals of the source.
enum addr_cal_mode_t { inc = 0, dec };
}  // namespace __cce_scalar
using __cce_scalar::addr_cal_mode_t;  // NOLINT(google-global-names-in-headers): older compilers have them here
using __cce_scalar::dec;              // NOLINT(google-global-names-in-headers)
using __cce_scalar::inc;              // NOLINT(google-global-names-in-headers)

// What a pointer to a tile is to the compiler: the pointer.
#define __cce_get_tile_ptr(pointer) (pointer)
#define __cce_tinit(pointer) (pointer)

namespace vinci::ascendc::cce {

// An operand that is a number, given as any whole number or enumerator.
struct Number {
  template <typename T>
  constexpr Number(T number)  // NOLINT(google-explicit-constructor): it is an argument
      : value(static_cast<uint64_t>(number)) {}
  uint64_t value;
};

// An address, as a register holds it.
template <typename T>
uint64_t at(T* pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}
inline uint64_t at(decltype(nullptr)) { return 0; }
// The bits of a scalar operand, which is a number of the lanes' type.
template <typename T, typename S>
uint64_t scalar_of(S value) {
  return AscendC::vinci_detail::BitsOf(static_cast<AscendC::vinci_detail::Element<T>>(value));
}
// What a special register is set to: a whole number, or the bits of another.
template <typename T>
uint64_t register_of(T value) {
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    return static_cast<uint64_t>(value);
  } else {
    return AscendC::vinci_detail::BitsOf(value);
  }
}

constexpr bool is_listed(std::string_view list, std::string_view name) {
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(' ', at), list.size());
    if (list.substr(at, end - at) == name) return true;
    at = end + 1;
  }
  return false;
}
// The form of an instruction, of those that it has, for elements of T and of the other operands: of their type, of
// their size, or for sources of f16 and a destination of f32. Null where it has none.
template <typename T, typename... Others>
constexpr const char* form_of(std::string_view forms) {
  using AscendC::vinci_detail::Element;
  using First = Element<T>;
  if constexpr ((std::is_same_v<First, Element<Others>> && ...)) {
    constexpr const char* name = AscendC::vinci_detail::TypeName<First>();
    if (is_listed(forms, name)) return name;
    constexpr uint32_t bits = AscendC::vinci_detail::kBitsOf<First>;
    constexpr const char* size = bits == 8 ? "b8" : bits == 16 ? "b16" : bits == 32 ? "b32" : "b64";
    return is_listed(forms, size) ? size : nullptr;
  } else if constexpr (std::is_same_v<First, float> && (std::is_same_v<half, Element<Others>> && ...)) {
    return is_listed(forms, "fmix") ? "fmix" : is_listed(forms, "f162f32") ? "f162f32" : nullptr;
  } else {
    return nullptr;
  }
}

}  // namespace vinci::ascendc::cce
