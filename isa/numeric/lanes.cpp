// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/numeric/lanes.h"

#include <algorithm>
#include <cstring>

namespace vinci::isa {
namespace {

bool has_native(Path path) { return path == Path::fastest && detail::host_has_avx512fp16(); }

}  // namespace

UnaryKernel unary_kernel(UnaryOp op, LaneType type, Path path) {
  const UnaryKernel simd = path != Path::portable ? detail::simd_unary_kernel(op, type) : nullptr;
  return simd != nullptr ? simd : detail::portable_unary_kernel(op, type);
}

BinaryKernel binary_kernel(BinaryOp op, LaneType type, Path path) {
  const BinaryKernel simd = path != Path::portable ? detail::simd_binary_kernel(op, type) : nullptr;
  return simd != nullptr ? simd : detail::portable_binary_kernel(op, type);
}

TernaryKernel ternary_kernel(TernaryOp op, LaneType dst, LaneType src, Path path) {
  const TernaryKernel simd = path != Path::portable ? detail::simd_ternary_kernel(op, dst, src) : nullptr;
  return simd != nullptr ? simd : detail::portable_ternary_kernel(op, dst, src);
}

CompareKernel compare_kernel(CompareOp op, LaneType type, Path path) {
  const CompareKernel simd = path != Path::portable ? detail::simd_compare_kernel(op, type) : nullptr;
  return simd != nullptr ? simd : detail::portable_compare_kernel(op, type);
}

UnaryKernel convert_kernel(LaneType from, LaneType to, RoundMode round, Path path) {
  const UnaryKernel simd = path != Path::portable ? detail::simd_convert_kernel(from, to, round) : nullptr;
  return simd != nullptr ? simd : detail::portable_convert_kernel(from, to, round);
}

RepeatsKernel unary_repeats(UnaryOp op, LaneType type, Path path) {
  const RepeatsKernel native = has_native(path) ? detail::avx512fp16_unary_repeats(op, type) : nullptr;
  if (native != nullptr) return native;
  return path != Path::portable ? detail::simd_unary_repeats(op, type) : nullptr;
}

RepeatsKernel binary_repeats(BinaryOp op, LaneType type, Path path) {
  const RepeatsKernel native = has_native(path) ? detail::avx512fp16_binary_repeats(op, type) : nullptr;
  if (native != nullptr) return native;
  return path != Path::portable ? detail::simd_binary_repeats(op, type) : nullptr;
}

RepeatsKernel ternary_repeats(TernaryOp op, LaneType dst, LaneType src, Path path) {
  const RepeatsKernel native = has_native(path) ? detail::avx512fp16_ternary_repeats(op, dst, src) : nullptr;
  if (native != nullptr) return native;
  return path != Path::portable ? detail::simd_ternary_repeats(op, dst, src) : nullptr;
}

RepeatsKernel convert_repeats(LaneType from, LaneType to, RoundMode round, Path path) {
  const RepeatsKernel native = has_native(path) ? detail::avx512fp16_convert_repeats(from, to, round) : nullptr;
  if (native != nullptr) return native;
  return path != Path::portable ? detail::simd_convert_repeats(from, to, round) : nullptr;
}

namespace detail {

u64 unary_repeat(UnaryKernel kernel, const Repeats& job, usize repeat, LaneType from, LaneType to) {
  const usize widest = std::max(lane_bits(from), lane_bits(to));
  LaneBuffer a{}, out{};
  std::memcpy(a.bytes.data(), job.a.at(repeat), kRepeatBytes * lane_bits(from) / widest);
  const u64 raised = kernel(a, out, job.mode);
  std::memcpy(job.out + repeat * job.out_stride, out.bytes.data(), kRepeatBytes * lane_bits(to) / widest);
  return raised;
}

u64 binary_repeat(BinaryKernel kernel, const Repeats& job, usize repeat) {
  return ternary_repeat(kernel, job, repeat, LaneType::f32, LaneType::f32);  // of one width
}

u64 ternary_repeat(TernaryKernel kernel, const Repeats& job, usize repeat, LaneType dst, LaneType src) {
  const usize read = kRepeatBytes * lane_bits(src) / lane_bits(dst);
  std::byte* const at = job.out + repeat * job.out_stride;
  LaneBuffer a{}, b{}, out;
  std::memcpy(a.bytes.data(), job.a.at(repeat), read);
  std::memcpy(b.bytes.data(), job.b.at(repeat), read);
  std::memcpy(out.bytes.data(), at, kRepeatBytes);
  const u64 raised = kernel(a, b, out, job.mode);
  std::memcpy(at, out.bytes.data(), kRepeatBytes);
  return raised;
}

}  // namespace detail
}  // namespace vinci::isa
