// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>

#include "vinci/ascendc.h"

// Launches of kernels that another source defines: aclrtlaunch_NAME.h, and launches by a handle (acl/acl_rt.h).
// `vinci cc` adds a Signature to the source of each kernel that has the name of C.
namespace vinci::ascendc {

// An argument as the host gives it.
struct Argument {
  enum class Kind : std::uint8_t {
    whole,    // of type std::int64_t
    natural,  // of type std::uint64_t
    real,     // of type double
    pointer,  // `size` is that of what it leads to, 0 where it is not known
    object,   // at `address`
    bytes     // at `address`, of a type that is not known
  };
  Kind kind;
  std::uint64_t size;
  const void* address;
  std::int64_t whole;
  double real;
};

// One parameter of a kernel.
struct Parameter {
  enum class Kind : std::uint8_t { number, pointer, object };
  Kind kind;
  std::uint32_t size, alignment;
};

struct Signature {
  std::uint32_t count;
  const Parameter* parameters;
  void (*call)(const Argument* arguments);  // as many as there are parameters, which accepts() has accepted
};

// Whether a parameter can be an argument: a pointer, a number from a number, an object from one of its size or from a
// pointer to it.
inline bool accepts(const Parameter& p, const Argument& a) {
  switch (a.kind) {
    case Argument::Kind::whole:
    case Argument::Kind::natural:
    case Argument::Kind::real: return p.kind == Parameter::Kind::number;
    case Argument::Kind::pointer:
      return p.kind == Parameter::Kind::pointer ||
             (p.kind == Parameter::Kind::object && a.address != nullptr && (a.size == 0 || a.size == p.size));
    case Argument::Kind::object: return p.kind == Parameter::Kind::object && a.size == p.size;
    case Argument::Kind::bytes: return a.size == p.size;
  }
  return false;
}

template <class T>
#ifdef __clang__
inline constexpr bool kIsReal = std::is_floating_point_v<T> || std::is_same_v<T, _Float16> || std::is_same_v<T, __bf16>;
#else
inline constexpr bool kIsReal = std::is_floating_point_v<T>;  // host code of another compiler
#endif
template <class T>
inline constexpr bool kIsNumber = std::is_arithmetic_v<T> || std::is_enum_v<T> || kIsReal<T>;

template <class T>
Argument argument_of(const T& value) {
  Argument out{Argument::Kind::object, sizeof(T), &value, 0, 0};
  if constexpr (std::is_null_pointer_v<T>) {
    out = {Argument::Kind::pointer, 0, nullptr, 0, 0};
  } else if constexpr (std::is_pointer_v<T>) {
    out = {Argument::Kind::pointer, 0, (const void*)value, 0, 0};
    if constexpr (std::is_object_v<std::remove_pointer_t<T>>) out.size = sizeof(std::remove_pointer_t<T>);
  } else if constexpr (kIsReal<T>) {
    out.kind = Argument::Kind::real;
    out.real = static_cast<double>(value);
  } else if constexpr (kIsNumber<T>) {
    out.kind = std::is_unsigned_v<T> ? Argument::Kind::natural : Argument::Kind::whole;
    out.whole = static_cast<std::int64_t>(value);
  } else {
    static_assert(
        std::is_trivially_copyable_v<T>,
        "a kernel takes pointers, numbers and structs of data: this argument is an object with code of its own");
  }
  return out;
}

template <class T>
constexpr Parameter parameter_of() {
  const auto kind = std::is_pointer_v<T> ? Parameter::Kind::pointer
                    : kIsNumber<T>       ? Parameter::Kind::number
                                         : Parameter::Kind::object;
  return {kind, sizeof(T), alignof(T)};
}

template <class T>
T argument_as(const Argument& a) {
  if constexpr (std::is_pointer_v<T>) {
    const void* address = a.address;
    if (a.kind == Argument::Kind::bytes) std::memcpy(static_cast<void*>(&address), a.address, sizeof(address));
    return (T)address;  // NOLINT(google-readability-casting): the memory changes, too
  } else if constexpr (kIsNumber<T>) {
    if (a.kind == Argument::Kind::whole) return static_cast<T>(a.whole);
    if (a.kind == Argument::Kind::natural) return static_cast<T>(static_cast<std::uint64_t>(a.whole));
    if (a.kind == Argument::Kind::real) return static_cast<T>(a.real);
    return *static_cast<const T*>(a.address);
  } else {
    return *static_cast<const T*>(a.address);
  }
}

template <auto kernel>
struct SignatureOf;
template <class... P, void (*kernel)(P...)>
struct SignatureOf<kernel> {
  static constexpr Parameter parameters[sizeof...(P) + 1] = {parameter_of<P>()..., {}};
  static constexpr bool kByValue = (std::is_copy_constructible_v<P> && ...) && !(std::is_reference_v<P> || ...);

  template <std::size_t... I>
  static void call([[maybe_unused]] const Argument* arguments, std::index_sequence<I...>) {
    kernel(argument_as<P>(arguments[I])...);
  }
  static constexpr Signature value() {
    if constexpr (kByValue) {
      return {sizeof...(P), parameters,
              [](const Argument* arguments) { call(arguments, std::index_sequence_for<P...>()); }};
    } else {
      return {0, nullptr, nullptr};
    }
  }
};

// A number of blocks, with the line of the launch that has it.
struct Blocks {
  Blocks(std::uint32_t number, Place launch = Place::here())  // NOLINT(google-explicit-constructor): it is that number
      : count(number), place(launch) {}
  std::uint32_t count;
  Place place;
};

// What ACLRT_LAUNCH_KERNEL(name)(blocks, stream, arguments...) does. `signature` is null where the kernel was compiled
// without one; then the parameters are taken to have the types of the arguments.
template <class... A>
void launch_by_signature(const Launch& what, void (*entry)(), const Signature* signature, A... arguments) {
  if (signature == nullptr || signature->call == nullptr) {
#ifdef __clang__
    launch(what, (void (*)(A...))entry, arguments...);
#else
    run(what, [&] { reinterpret_cast<void (*)(A...)>(entry)(arguments...); });
#endif
    return;
  }
  const Argument all[sizeof...(A) + 1] = {argument_of(arguments)..., {}};
  char text[256];
  if (signature->count != sizeof...(A)) {
    std::snprintf(text, sizeof(text), "%s takes %u arguments, not %zu", what.name, signature->count, sizeof...(A));
    wrong(text, what.place);
  }
  for (std::uint32_t i = 0; i < signature->count; ++i) {
    const Parameter& p = signature->parameters[i];
    const Argument& a = all[i];
    if (accepts(p, a)) continue;
    static constexpr const char* kParameters[] = {"a number of %u bytes", "a pointer",
                                                  "a struct of %u bytes, by value or by a pointer to it"};
    static constexpr const char* kArguments[] = {"a whole number",          "a whole number",
                                                 "a floating-point number", "a pointer to %u bytes",
                                                 "a struct of %u bytes",    "%u bytes"};
    char want[64], got[64];
    std::snprintf(want, sizeof(want), kParameters[static_cast<int>(p.kind)], p.size);
    if (a.kind == Argument::Kind::pointer && a.address == nullptr) {
      std::snprintf(got, sizeof(got), "a null pointer");
    } else {
      std::snprintf(got, sizeof(got), kArguments[static_cast<int>(a.kind)], static_cast<unsigned>(a.size));
    }
    std::snprintf(text, sizeof(text), "%s takes %s as argument %u, not %s", what.name, want, i + 1, got);
    wrong(text, what.place);
  }
  run(what, [&] { signature->call(all); });
}

}  // namespace vinci::ascendc
