// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/numeric/lanes.h"

namespace vinci::isa {

UnaryKernel unary_kernel(UnaryOp op, LaneType type, Path path) {
  const UnaryKernel simd = path == Path::fastest ? detail::simd_unary_kernel(op, type) : nullptr;
  return simd != nullptr ? simd : detail::portable_unary_kernel(op, type);
}

BinaryKernel binary_kernel(BinaryOp op, LaneType type, Path path) {
  const BinaryKernel simd = path == Path::fastest ? detail::simd_binary_kernel(op, type) : nullptr;
  return simd != nullptr ? simd : detail::portable_binary_kernel(op, type);
}

TernaryKernel ternary_kernel(TernaryOp op, LaneType dst, LaneType src, Path path) {
  const TernaryKernel simd = path == Path::fastest ? detail::simd_ternary_kernel(op, dst, src) : nullptr;
  return simd != nullptr ? simd : detail::portable_ternary_kernel(op, dst, src);
}

CompareKernel compare_kernel(CompareOp op, LaneType type, Path path) {
  const CompareKernel simd = path == Path::fastest ? detail::simd_compare_kernel(op, type) : nullptr;
  return simd != nullptr ? simd : detail::portable_compare_kernel(op, type);
}

UnaryKernel convert_kernel(LaneType from, LaneType to, RoundMode round, Path path) {
  const UnaryKernel simd = path == Path::fastest ? detail::simd_convert_kernel(from, to, round) : nullptr;
  return simd != nullptr ? simd : detail::portable_convert_kernel(from, to, round);
}

}  // namespace vinci::isa
