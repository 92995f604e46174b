// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstring>
#include <map>
#include <vector>

#include "ascendc/language.h"

// The tiling key of the launches to come, where `vinci cc --tiling-key` has not made it a constant.
inline std::uint64_t g_tilingKey = 0;

// Tiling data: a struct that the host fills and the kernel reads from global memory. Documentation: Ascend C API, host
// tiling.
namespace vinci::ascendc {

// Copies it as loads of the scalar unit, each as wide as what is left allows.
template <class T, class From>
void read_tiling(T& to, From* from, Place place) {
  auto* bytes = reinterpret_cast<unsigned char*>(&to);
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  for (unsigned i = 0, width = 8; i < sizeof(T); i += width) {
    while (width > sizeof(T) - i)
      width /= 2;
    const std::uint64_t word = load(Memory::gm, address + i, width, place);
    std::memcpy(bytes + i, &word, width);
  }
}

// The arguments that a kernel template has for a key: the host makes keys of them, and the launch names them again.
inline std::map<std::uint64_t, std::vector<std::uint64_t>>& template_keys() {
  static std::map<std::uint64_t, std::vector<std::uint64_t>> all;
  return all;
}
struct KeyArgument {
  template <class T>
  KeyArgument(T argument) : value(static_cast<std::uint64_t>(argument)) {}  // NOLINT(google-explicit-constructor)
  std::uint64_t value;
};
inline std::uint64_t template_key(std::initializer_list<KeyArgument> arguments) {
  std::vector<std::uint64_t> values;
  for (const KeyArgument& a : arguments)
    values.push_back(a.value);
  auto& all = template_keys();
  for (const auto& [key, known] : all)
    if (known == values) return key;
  // Beyond the keys that packages choose themselves.
  constexpr std::uint64_t kFirst = std::uint64_t{1} << 62;
  const std::uint64_t key = kFirst + all.size();
  all.emplace(key, values);
  return key;
}

constexpr bool tiling_key_in(std::uint64_t own, std::initializer_list<std::uint64_t> keys) {
  for (const std::uint64_t key : keys)
    if (key == own) return true;
  return false;
}

}  // namespace vinci::ascendc

// The bytes of a struct of tiling data as the struct, a constant expression where they are one.
template <class T>
constexpr T convert_from_bytes(const std::uint8_t* bytes) {
  struct Bytes {
    std::uint8_t of[sizeof(T)];
  } copy{};
  for (std::size_t i = 0; i < sizeof(T); ++i)
    copy.of[i] = bytes[i];
  return __builtin_bit_cast(T, copy);
}

namespace vinci::ascendc {

// Buffers that follow a struct of tiling data (SetDataPtr): what is set in the struct is set there. By the address of
// the struct, and so also for the structs in it.
struct TilingView {
  std::size_t size;
  char* to;
};
inline std::map<std::uintptr_t, TilingView>& tiling_views() {
  static std::map<std::uintptr_t, TilingView> all;
  return all;
}
inline void follow_tiling(const void* data, std::size_t size, void* to) {
  tiling_views()[reinterpret_cast<std::uintptr_t>(data)] = {size, static_cast<char*>(to)};
  std::memcpy(to, data, size);
}
inline void tiling_set(const void* field, std::size_t size) {
  const auto& all = tiling_views();
  if (all.empty()) return;
  const auto address = reinterpret_cast<std::uintptr_t>(field);
  auto at = all.upper_bound(address);
  if (at == all.begin()) return;
  --at;
  const std::uintptr_t offset = address - at->first;
  if (offset + size <= at->second.size) std::memcpy(at->second.to + offset, field, size);
}
inline void save_tiling(const void* data, std::size_t size, void* to, std::size_t capacity) {
  std::memcpy(to, data, capacity < size ? capacity : size);
  tiling_views().erase(reinterpret_cast<std::uintptr_t>(data));
}

}  // namespace vinci::ascendc

// On the host: a struct of multiples of 8 bytes whose fields have functions of their own, too; SaveToBuffer copies what
// the kernel reads.
#define BEGIN_TILING_DATA_DEF(name)                                     \
  struct alignas(8) name {                                              \
    std::size_t GetDataSize() const { return sizeof(*this); }           \
    void SaveToBuffer(void* to, std::size_t capacity) const {           \
      ::vinci::ascendc::save_tiling(this, sizeof(*this), to, capacity); \
    }                                                                   \
    void SetDataPtr(void* to) const { ::vinci::ascendc::follow_tiling(this, sizeof(*this), to); }
#define TILING_DATA_FIELD_DEF(type, name)              \
  type name{};                                         \
  void set_##name(type value) {                        \
    name = value;                                      \
    ::vinci::ascendc::tiling_set(&name, sizeof(name)); \
  }                                                    \
  type get_##name() const { return name; }
#define TILING_DATA_FIELD_DEF_ARR(type, size, name)   \
  type name[size]{};                                  \
  void set_##name(const type* values) {               \
    std::memcpy(name, values, sizeof(name));          \
    ::vinci::ascendc::tiling_set(name, sizeof(name)); \
  }                                                   \
  type* get_##name() { return name; }
#define TILING_DATA_FIELD_DEF_WITH_INITVALUE(type, name, value) \
  type name = value;                                            \
  void set_##name(type new_value) {                             \
    name = new_value;                                           \
    ::vinci::ascendc::tiling_set(&name, sizeof(name));          \
  }                                                             \
  type get_##name() const { return name; }
#define TILING_DATA_FIELD_DEF_STRUCT(type, name) type name;
#define END_TILING_DATA_DEF \
  }                         \
  ;
#define REGISTER_TILING_DATA_CLASS(op, type)

// In the kernel: the type of the data where no other is named.
// Says that a kernel has a variant with results that do not depend on the order of cores; the variant is a tiling key.
#define ENABLE_DETERMINISTIC()
#define REGISTER_TILING_DEFAULT(type) using VinciTilingData = type
#define REGISTER_TILING_FOR_TILINGKEY(condition, type)
#define REGISTER_NONE_TILING
#define GET_TILING_DATA(name, address) \
  VinciTilingData name;                \
  ::vinci::ascendc::read_tiling(name, address, ::vinci::ascendc::Place::here())
#define GET_TILING_DATA_WITH_STRUCT(type, name, address) \
  type name;                                             \
  ::vinci::ascendc::read_tiling(name, address, ::vinci::ascendc::Place::here())
#define GET_TILING_DATA_MEMBER(type, member, name, address)                                      \
  decltype(type::member) name;                                                                   \
  ::vinci::ascendc::read_tiling(name, (const __gm__ uint8_t*)(address) + offsetof(type, member), \
                                ::vinci::ascendc::Place::here())
#ifndef TILING_KEY_VAR
#define TILING_KEY_VAR g_tilingKey
#endif
#define TILING_KEY_IS(key) (TILING_KEY_VAR == static_cast<std::uint64_t>(key))
#define TILING_KEY_LIST(...) ::vinci::ascendc::tiling_key_in(TILING_KEY_VAR, {__VA_ARGS__})
#define GET_TILING_DATA_PTR_WITH_STRUCT(type, to, from) \
  type* to = reinterpret_cast<type*>(reinterpret_cast<std::uintptr_t>(from))
// Declare `to`: a pointer to a copy of the struct or the array that `from` points to.
#define COPY_TILING_WITH_STRUCT(type, from, to)                                          \
  type vinci_copy_##to;                                                                  \
  ::vinci::ascendc::read_tiling(vinci_copy_##to, from, ::vinci::ascendc::Place::here()); \
  const type* to = &vinci_copy_##to
// What generated code copies tiling data with.
template <class From>
void copy_data_align64(std::uint8_t* to, From* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    to[i] = static_cast<std::uint8_t>(from[i]);
}
#define COPY_TILING_WITH_ARRAY(type, count, from, to)                                    \
  type vinci_copy_##to[count];                                                           \
  ::vinci::ascendc::read_tiling(vinci_copy_##to, from, ::vinci::ascendc::Place::here()); \
  const type(*to)[count] = &vinci_copy_##to

// What kinds a kernel template is compiled for: nothing is to be generated here, the launch names its arguments.
#define ASCENDC_TPL_ARGS_DECL(...)
#define ASCENDC_TPL_SEL(...)
// On the host: the key of these arguments.
// Packages leave a comma behind the last one.
#define GET_TPL_TILING_KEY(...) ::vinci::ascendc::template_key({__VA_ARGS__})
#define ASCENDC_TPL_SEL_PARAM(context, ...) (context)->SetTilingKey(GET_TPL_TILING_KEY(__VA_ARGS__))
#define ASCENDC_TPL_ARGS_SEL(...)
