// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdint>

// How much temporary memory functions of elements need, in buffers of f32: kernels and the host's functions for sizes
// (ascendc/advanced/host_sizes.h) know it from here.
namespace AscendC {

namespace vinci_detail {
// Buffers that every function has: its operands and its result in f32.
constexpr uint32_t kOperandNodes = 3;
// A buffer is a multiple of so many elements.
constexpr uint32_t kElementUnit = 64;
}  // namespace vinci_detail

// Name, and buffers besides those.
#define VINCI_TMP_NODES(X) \
  X(Tanh, 1)               \
  X(Sigmoid, 1)            \
  X(Silu, 0)               \
  X(Swish, 0)              \
  X(Gelu, 0)               \
  X(FasterGelu, 0)         \
  X(FasterGeluV2, 1)       \
  X(GeGLU, 0)              \
  X(SwiGLU, 0)             \
  X(ReGlu, 0)              \
  X(Exp, 0)                \
  X(Log, 0)                \
  X(Log2, 0)               \
  X(Log10, 0)              \
  X(Floor, 0)              \
  X(Ceil, 0)               \
  X(Round, 0)              \
  X(Trunc, 0)              \
  X(Rint, 0)               \
  X(Frac, 0)               \
  X(Fmod, 0)               \
  X(Sign, 0)               \
  X(Sin, 3)                \
  X(Cos, 3)                \
  X(Tan, 3)                \
  X(Sinh, 1)               \
  X(Cosh, 1)               \
  X(Asin, 4)               \
  X(Acos, 4)               \
  X(Atan, 3)               \
  X(Asinh, 1)              \
  X(Acosh, 0)              \
  X(Atanh, 1)              \
  X(Erf, 2)                \
  X(Erfc, 2)               \
  X(Lgamma, 6)             \
  X(Digamma, 6)            \
  X(Power, 3)              \
  X(ClampMax, 0)           \
  X(ClampMin, 0)           \
  X(Axpy, 0)

namespace vinci_detail::TmpNodes {
#define VINCI_TMP_NODE(Name, nodes) inline constexpr uint32_t Name = nodes;
VINCI_TMP_NODES(VINCI_TMP_NODE)
#undef VINCI_TMP_NODE
}  // namespace vinci_detail::TmpNodes

}  // namespace AscendC
