// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstring>

#include "ascendc/language.h"

// Tiling data: a struct that the host fills and the kernel reads from global memory. Documentation: Ascend C API, host
// tiling.
namespace vinci::ascendc {

// Copies it as loads of the scalar unit, each as wide as what is left allows.
template <class T>
void read_tiling(T& to, const void* from, Place place) {
  auto* bytes = reinterpret_cast<unsigned char*>(&to);
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  for (unsigned i = 0, width = 8; i < sizeof(T); i += width) {
    while (width > sizeof(T) - i)
      width /= 2;
    const std::uint64_t word = load(Memory::gm, address + i, width, place);
    std::memcpy(bytes + i, &word, width);
  }
}

inline std::uint64_t& tiling_key() {
  static std::uint64_t key = 0;
  return key;
}

}  // namespace vinci::ascendc

#define BEGIN_TILING_DATA_DEF(name) struct name {
#define TILING_DATA_FIELD_DEF(type, name)       \
  type name;                                    \
  void set_##name(type value) { name = value; } \
  type get_##name() const { return name; }
#define TILING_DATA_FIELD_DEF_ARR(type, size, name) type name[size];
#define TILING_DATA_FIELD_DEF_STRUCT(type, name) type name;
#define END_TILING_DATA_DEF \
  }                         \
  ;
#define REGISTER_TILING_DATA_CLASS(op, type)

// In the kernel: the type of the data where no other is named.
#define REGISTER_TILING_DEFAULT(type) using VinciTilingData = type
#define REGISTER_TILING_FOR_TILINGKEY(condition, type)
#define GET_TILING_DATA(name, address) \
  VinciTilingData name;                \
  ::vinci::ascendc::read_tiling(name, address, ::vinci::ascendc::Place::here())
#define GET_TILING_DATA_WITH_STRUCT(type, name, address) \
  type name;                                             \
  ::vinci::ascendc::read_tiling(name, address, ::vinci::ascendc::Place::here())
#define GET_TILING_DATA_MEMBER(type, member, name, address)                                               \
  decltype(type::member) name;                                                                            \
  ::vinci::ascendc::read_tiling(name, reinterpret_cast<const uint8_t*>(address) + offsetof(type, member), \
                                ::vinci::ascendc::Place::here())
#define TILING_KEY_IS(key) (::vinci::ascendc::tiling_key() == static_cast<std::uint64_t>(key))
#define TILING_KEY_VAR (::vinci::ascendc::tiling_key())
