// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "ascendc/bfloat16.h"
#include "ascendc/pipe_numbers.h"
#include "vinci/ascendc.h"
#include "vinci/kernel_code.h"
#include "vinci/signature.h"

// The language besides C++: qualifiers of functions and pointers, pipes and events, the variables of a core. Names are
// those of the published documentation of Ascend C.

// The architecture; `vinci cc --npu-arch` says another one.
#ifndef __NPU_ARCH__
#define __NPU_ARCH__ 2201
#endif
#if !defined(__CCE_AICORE__) && !defined(VINCI_HOST_CODE)  // the host code of operators asks for it
#if __NPU_ARCH__ == 2201
#define __CCE_AICORE__ 220
#elif __NPU_ARCH__ == 2002
#define __CCE_AICORE__ 200
#else
#define __CCE_AICORE__ 100
#endif
#endif

// The compiler plugin finds kernels and their types by these marks.
#define __global__ __attribute__((annotate("vinci.kernel")))
#define __vector__ __attribute__((annotate("vinci.type vector")))
#define __cube__ __attribute__((annotate("vinci.type cube")))
#define __mix__(cube, vector) __attribute__((annotate("vinci.type mix " #cube " " #vector)))
#define __kfc_workspace__ __attribute__((annotate("vinci.matmul")))
#define KERNEL_TASK_TYPE_DEFAULT(type) vinci_kernel_type(#type);
#define KERNEL_TASK_TYPE(key, type) vinci_kernel_type(#type);
#define __schedmode__(mode)
#define __aicore__
// What a function of the vendor's library says of its pipes.
#define __in_pipe__(...)
#define __out_pipe__(...)
#define __inout_pipe__(...)
// A variable of each core; a core is a thread.
#define __BLOCK_LOCAL__ thread_local
#define __host_aicore__
#define __tf__
#define __in__
#define __out__
#define __inout__
// Memories are address spaces, so they are part of a pointer's type. Global memory is at its own addresses of the
// process, and a pointer of the host converts to one to it; a pointer to a memory of the core is an offset in it.
// tools/ascendc/plugin has the numbers, too.
#define __gm__ __attribute__((opencl_generic))
#define __cbuf__ __attribute__((address_space(2)))
#define __ca__ __attribute__((address_space(3)))
#define __cb__ __attribute__((address_space(4)))
#define __cc__ __attribute__((address_space(5)))
#define __ubuf__ __attribute__((address_space(6)))
#define __fbuf__ __attribute__((address_space(7)))
#define __biasbuf__ __attribute__((address_space(8)))
#define __ssbuf__ __attribute__((address_space(9)))
#define GM_ADDR __gm__ uint8_t*

// Hints for the vendor's compiler.
#define __forceinline__ inline __attribute__((always_inline))
#ifndef likely
#define likely(condition) __builtin_expect(!!(condition), 1)
#endif
#ifndef unlikely
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#endif

using half = _Float16;
#define __fp16 half  // the same in kernels; to this compiler a type that is only stored
using float16_t = half;
using float32_t = float;

// Programs may have macros of these names, for compilers that do not know them.
#pragma push_macro("EVENT_ID0")
#undef EVENT_ID0
#pragma push_macro("EVENT_ID1")
#undef EVENT_ID1
#pragma push_macro("EVENT_ID2")
#undef EVENT_ID2
#pragma push_macro("EVENT_ID3")
#undef EVENT_ID3
#pragma push_macro("EVENT_ID4")
#undef EVENT_ID4
#pragma push_macro("EVENT_ID5")
#undef EVENT_ID5
#pragma push_macro("EVENT_ID6")
#undef EVENT_ID6
#pragma push_macro("EVENT_ID7")
#undef EVENT_ID7
enum event_t : uint8_t { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };
#pragma pop_macro("EVENT_ID0")
#pragma pop_macro("EVENT_ID1")
#pragma pop_macro("EVENT_ID2")
#pragma pop_macro("EVENT_ID3")
#pragma pop_macro("EVENT_ID4")
#pragma pop_macro("EVENT_ID5")
#pragma pop_macro("EVENT_ID6")
#pragma pop_macro("EVENT_ID7")

// A template, since programs declare a function of this name themselves; the library has that one, too.
template <typename T = int64_t>
T get_block_idx() {
  return ::vinci::ascendc::core().block_idx;
}
inline int64_t get_block_num() { return ::vinci::ascendc::core().block_num; }
inline int64_t get_subblockid() { return ::vinci::ascendc::core().subblock_idx; }
inline int64_t get_subblockdim() { return ::vinci::ascendc::core().subblock_num; }

namespace vinci::ascendc {
// A variable of the core that reads as a number.
template <int64_t (*Get)()>
struct CoreVariable {
  operator int64_t() const { return Get(); }  // NOLINT(google-explicit-constructor): it is that number
};
}  // namespace vinci::ascendc
inline constexpr ::vinci::ascendc::CoreVariable<get_block_idx<int64_t>> block_idx{};
inline constexpr ::vinci::ascendc::CoreVariable<get_block_num> block_num{};

// What the runtime tells a kernel of the L2 cache; kernels define the variable g_opSystemRunCfg.
struct OpSystemRunCfg {
  uint64_t l2Cacheoffset;
};

namespace AscendC {

// What users do not name is in vinci_detail, so that their own names cannot meet it.
namespace vinci_detail {
using Place = ::vinci::ascendc::Place;
}  // namespace vinci_detail
// The last parameter of a function that issues instructions: the line of the call.
#define VINCI_PLACE ::vinci::ascendc::Place place = ::vinci::ascendc::Place::here()
// Kernels also take the address of a function, whose type then is the documented one. A function with a form of each
// type marks the one with the line, which calls prefer; calls through a pointer have no line.
#define VINCI_WITH_PLACE __attribute__((enable_if(true, "")))
#define VINCI_NO_PLACE (::vinci::ascendc::Place{nullptr, 0})

using TEventID = int8_t;
constexpr TEventID INVALID_TEVENTID = -1;
// Event ids of a pair of pipes. Source: asc-devkit kernel_macros.h.
constexpr int32_t QUE_MAX_EVENT = __NPU_ARCH__ == 2201 || __NPU_ARCH__ == 2002 ? 8 : 4;

constexpr uint32_t ONE_BLK_SIZE = 32;
constexpr uint32_t ONE_REPEAT_BYTE_SIZE = 256;
constexpr uint32_t DEFAULT_BLK_STRIDE = 1;
constexpr uint32_t DEFAULT_REPEAT_STRIDE = 8;
constexpr uint64_t MASK_PLACEHOLDER = 0;
#define MASK_PLACEHOLDER_LIST \
  { 0, 0 }

enum class TPosition : uint8_t {
  GM,
  A1,
  A2,
  B1,
  B2,
  C1,
  C2,
  CO1,
  CO2,
  VECIN,
  VECOUT,
  VECCALC,
  LCM = VECCALC,
  SPM,
  SHM = SPM,
  TSCM,
  C2PIPE2GM,
  C2PIPE2LOCAL,
  MAX
};
using QuePosition = TPosition;
enum class Hardware : uint8_t { GM, UB, L1, L0A, L0B, L0C, BIAS, FIXBUF, MAX };
enum class CacheMode { CACHE_MODE_DISABLE, CACHE_MODE_NORMAL, CACHE_MODE_LAST, CACHE_MODE_PERSISTENT = 4 };
enum class CacheRwMode { READ = 1, WRITE = 2, RW = 3 };

namespace vinci_detail {
// Where the bytes of a logical position are. Source: documentation of TPosition.
constexpr ::vinci::ascendc::Memory MemoryOf(TPosition position) {
  using ::vinci::ascendc::Memory;
  switch (position) {
    case TPosition::GM: return Memory::gm;
    case TPosition::A1:
    case TPosition::B1:
    case TPosition::C1:
    case TPosition::TSCM: return Memory::l1;
    case TPosition::A2: return Memory::l0a;
    case TPosition::B2: return Memory::l0b;
    case TPosition::C2: return Memory::bt;
    case TPosition::CO1: return Memory::l0c;
    case TPosition::C2PIPE2GM:
    case TPosition::C2PIPE2LOCAL: return Memory::fb;
    case TPosition::CO2:
    case TPosition::VECIN:
    case TPosition::VECOUT:
    case TPosition::VECCALC:
    case TPosition::SPM: return Memory::ub;
    case TPosition::MAX: return Memory::none;
  }
  return Memory::none;
}
}  // namespace vinci_detail

// A number of 4 bits; in memory, two of them share a byte.
struct int4b_t {
  uint8_t storage;

  int4b_t() = default;
  constexpr int4b_t(int32_t value) : storage(value & 15) {}
  constexpr int4b_t(uint32_t value) : storage(value & 15) {}
  constexpr operator int8_t() const { return static_cast<int8_t>((storage ^ 8) - 8); }
};

namespace vinci_detail {
template <class T>
inline constexpr uint32_t kBitsOf = std::is_same_v<T, int4b_t> ? 4 : sizeof(T) * 8;
template <class T>
constexpr uint64_t BytesOf(uint64_t elements) {
  // Without a detour over bits, so that an offset below zero, as kernels state it, wraps as the address does.
  if constexpr (kBitsOf<T> >= 8) return elements * (kBitsOf<T> / 8);
  return elements * kBitsOf<T> / 8;
}
}  // namespace vinci_detail

// The bits of an element.
template <class T>
struct SizeOfBits {
  static constexpr size_t value = vinci_detail::kBitsOf<std::remove_cv_t<T>>;
};

namespace vinci_detail {

// The suffix of an instruction for a type of lanes.
template <class T>
constexpr const char* TypeName() {
  if constexpr (std::is_same_v<T, half>)
    return "f16";
  else if constexpr (std::is_same_v<T, float>)
    return "f32";
  else if constexpr (std::is_same_v<T, bfloat16_t>)
    return "bf16";
  else if constexpr (std::is_same_v<T, int4b_t>)
    return "s4";
  else if constexpr (std::is_same_v<T, bool>)
    return "u8";
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return sizeof(T) == 1 ? "s8" : sizeof(T) == 2 ? "s16" : sizeof(T) == 4 ? "s32" : "s64";
  else if constexpr (std::is_integral_v<T>)
    return sizeof(T) == 1 ? "u8" : sizeof(T) == 2 ? "u16" : sizeof(T) == 4 ? "u32" : "u64";
  else
    return "unknown";
}
}  // namespace vinci_detail

// name<T>() is the instruction of that mnemonic on lanes of T, looked up once.
#define VINCI_INSN(name, mnemonic, type)                \
  namespace vinci_detail {                              \
  template <typename T>                                 \
  ::vinci::ascendc::Insn& name() {                      \
    static ::vinci::ascendc::Insn insn(mnemonic, type); \
    return insn;                                        \
  }                                                     \
  }

namespace vinci_detail {
// A type without its memory, as that of `*p` is in a template that has deduced it.
template <class T>
struct WithoutMemory {
  using type = T;
};
#define VINCI_WITHOUT(memory)      \
  template <class T>               \
  struct WithoutMemory<memory T> { \
    using type = T;                \
  };
VINCI_WITHOUT(__gm__)
VINCI_WITHOUT(__cbuf__)
VINCI_WITHOUT(__ca__)
VINCI_WITHOUT(__cb__)
VINCI_WITHOUT(__cc__)
VINCI_WITHOUT(__ubuf__)
VINCI_WITHOUT(__fbuf__)
VINCI_WITHOUT(__biasbuf__)
VINCI_WITHOUT(__ssbuf__)
#undef VINCI_WITHOUT
// An element: without its memory, const and volatile.
template <class T>
using Element = std::remove_cv_t<typename WithoutMemory<T>::type>;

// The bits of a value, as a register holds them.
template <class T>
uint64_t BitsOf(T value) {
  static_assert(sizeof(T) <= 8);
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
T FromBits(uint64_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}
}  // namespace vinci_detail

template <bool B>
struct BoolInst {
  static constexpr bool value = B;
};
using TrueType = BoolInst<true>;
using FalseType = BoolInst<false>;
template <class A, class B>
struct IsSameType {
  static constexpr bool value = std::is_same_v<A, B>;
};
template <bool condition, class A, class B>
struct Conditional {
  using type = std::conditional_t<condition, A, B>;
};
// Four types by two conditions: both, the first, the second, none.
template <bool condition1, bool condition2, class A, class B, class C, class D>
struct ConditionalMulti {
  using type =
      std::conditional_t<condition1, std::conditional_t<condition2, A, B>, std::conditional_t<condition2, C, D>>;
};

}  // namespace AscendC
