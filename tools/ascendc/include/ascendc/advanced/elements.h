// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/advanced/sizes.h"
#include "ascendc/convert.h"
#include "ascendc/pipe.h"

// The base of functions of elements: they compute in f32, in as many pieces as their temporary memory allows. The
// formulas are ours: what the vendor's library computes is not public bit by bit.
namespace AscendC {

namespace vinci_detail {
// The first elements of tensors, one instruction after the other, each in counter mode and waited for.
class Elements {
 public:
  using F = LocalTensor<float>;

  Elements(uint32_t count, Place place) : mask_(count, place), place_(place) {}
  void Done() { mask_.Reset(); }

#define VINCI_ELEMENTS_BINARY(Name)                                         \
  void Name(const F& d, const F& a, const F& b) const {                     \
    IssueBinary(vinci_detail::Name##Insn<float>(), d, a, b, 1, {}, place_); \
    IssueBarrier(PIPE_V, place_);                                           \
  }
  VINCI_ELEMENTS_BINARY(Add)
  VINCI_ELEMENTS_BINARY(Sub)
  VINCI_ELEMENTS_BINARY(Mul)
  VINCI_ELEMENTS_BINARY(Div)
  VINCI_ELEMENTS_BINARY(Max)
  VINCI_ELEMENTS_BINARY(Min)
#undef VINCI_ELEMENTS_BINARY
#define VINCI_ELEMENTS_UNARY(Name)                                      \
  void Name(const F& d, const F& a) const {                             \
    IssueUnary(vinci_detail::Name##Insn<float>(), d, a, 1, {}, place_); \
    IssueBarrier(PIPE_V, place_);                                       \
  }
  VINCI_ELEMENTS_UNARY(Exp)
  VINCI_ELEMENTS_UNARY(Ln)
  VINCI_ELEMENTS_UNARY(Abs)
  VINCI_ELEMENTS_UNARY(Sqrt)
  VINCI_ELEMENTS_UNARY(Relu)
#undef VINCI_ELEMENTS_UNARY
#define VINCI_ELEMENTS_SCALAR(Name)                                                 \
  void Name(const F& d, const F& a, float s) const {                                \
    IssueScalar(vinci_detail::Name##Insn<float>(), d, a, BitsOf(s), 1, {}, place_); \
    IssueBarrier(PIPE_V, place_);                                                   \
  }
  VINCI_ELEMENTS_SCALAR(Adds)
  VINCI_ELEMENTS_SCALAR(Muls)
  VINCI_ELEMENTS_SCALAR(Maxs)
  VINCI_ELEMENTS_SCALAR(Mins)
#undef VINCI_ELEMENTS_SCALAR
  void Set(const F& d, float s) const {
    IssueDuplicate(d, s, 1, 1, 8, place_);
    IssueBarrier(PIPE_V, place_);
  }
  // d = a op the number that a block of 32 bytes is filled with.
  void MulBlock(const F& d, const F& a, const F& block) const {
    IssueBinary(MulInsn<float>(), d, a, block, 1, {1, 1, 0, 8, 8, 0}, place_);
    IssueBarrier(PIPE_V, place_);
  }
  void AddBlock(const F& d, const F& a, const F& block) const {
    IssueBinary(AddInsn<float>(), d, a, block, 1, {1, 1, 0, 8, 8, 0}, place_);
    IssueBarrier(PIPE_V, place_);
  }
  void SubBlock(const F& d, const F& a, const F& block) const {
    IssueBinary(SubInsn<float>(), d, a, block, 1, {1, 1, 0, 8, 8, 0}, place_);
    IssueBarrier(PIPE_V, place_);
  }
  void Copy(const F& d, const F& a) const { Adds(d, a, 0.0f); }
  template <typename D, typename S>
  void Cast(const LocalTensor<D>& d, const LocalTensor<S>& s, RoundMode mode) const {
    IssueCast(d, s, mode, 1, {1, 1, kCastRepeatStride<D, S>, kCastRepeatStride<S, D>}, place_);
    IssueBarrier(PIPE_V, place_);
  }
  // To a whole number. Joint cores convert by way of int32_t, whose range is that of the results there.
  void Round(const F& d, const F& a, RoundMode mode) const {
#if __NPU_ARCH__ == 2201
    Cast(d, a, mode);
#else
    const LocalTensor<int32_t> whole = d.template ReinterpretCast<int32_t>();
    Cast(whole, a, mode);
    Cast(d, whole, RoundMode::CAST_NONE);
#endif
  }

  // d = c[n-1] + a * (c[n-2] + a * ..): a polynomial, the highest coefficient first.
  template <unsigned N>
  void Polynomial(const F& d, const F& a, const float (&c)[N]) const {
    Muls(d, a, c[0]);
    for (unsigned i = 1; i < N; ++i) {
      Adds(d, d, c[i]);
      if (i + 1 < N) Mul(d, d, a);
    }
  }
  void Clamp(const F& d, const F& a, float low, float high) const {
    Maxs(d, a, low);
    Mins(d, d, high);
  }
  // d = 1 where a > 0, else 0; -1, 0 or 1 by the sign. Two steps, so that the smallest number counts.
  void Step(const F& d, const F& a) const {
    Muls(d, a, kLarge);
    Muls(d, d, kLarge);
    Clamp(d, d, 0, 1);
  }
  void Sign(const F& d, const F& a) const {
    Muls(d, a, kLarge);
    Muls(d, d, kLarge);
    Clamp(d, d, -1, 1);
  }

 private:
  static constexpr float kLarge = 3e38f;
  CountedMask mask_;
  Place place_;
};

// What is left of UB above the buffers of the TPipe, where the API wants temporary memory and is given none. The end of
// UB is kept for Select.
inline LocalTensor<uint8_t> StackBuffer(Place place) {
  constexpr uint32_t kReserved = 8 * 1024;
  const TPipe* pipe = GetTPipePtr();
  if (pipe == nullptr)
    ::vinci::ascendc::wrong("temporary memory of the API needs a TPipe; give the function a sharedTmpBuffer", place);
  const uint32_t top = pipe->GetBaseAddr(TPosition::VECCALC);
  const auto size = static_cast<uint32_t>(::vinci::ascendc::size_of(::vinci::ascendc::Memory::ub));
  const uint32_t end = top + kReserved < size ? size - kReserved : size;
  return {TPosition::VECCALC, top, end - top};
}
}  // namespace vinci_detail

// The same by its published name.
template <typename T, TPosition pos>
bool PopStackBuffer(LocalTensor<T>& popLocal, VINCI_PLACE) {
  static_assert(vinci_detail::MemoryOf(pos) == ::vinci::ascendc::Memory::ub, "PopStackBuffer: memory of UB");
  popLocal = vinci_detail::StackBuffer(place).ReinterpretCast<T>();
  return popLocal.GetSize() > 0;
}

namespace vinci_detail {
// Temporary memory as buffers of f32, each of `elements()` of them.
class Buffers {
 public:
  Buffers(const LocalTensor<uint8_t>& memory, uint32_t buffers, uint32_t wanted, Place place)
      : memory_(memory.ReinterpretCast<float>()) {
    elements_ = memory.GetLength() / sizeof(float) / buffers / kElementUnit * kElementUnit;
    if (elements_ == 0)
      ::vinci::ascendc::wrong("the temporary memory is too small; the host's function for its size says what is needed",
                              place);
    const uint32_t whole = (wanted + kElementUnit - 1) / kElementUnit * kElementUnit;
    if (elements_ > whole) elements_ = whole;
  }
  uint32_t elements() const { return elements_; }
  // As many elements at a time as a buffer has: work(m, first) on those from `first` on.
  template <typename F>
  void ForPieces(uint32_t count, Place place, F&& work) const {
    for (uint32_t first = 0; first < count; first += elements_) {
      ::vinci::ascendc::charge(::vinci::ascendc::Work::loop);
      Elements m(count - first < elements_ ? count - first : elements_, place);
      work(m, first);
      m.Done();
    }
  }
  LocalTensor<float> operator[](uint32_t index) const { return memory_[index * elements_]; }

 private:
  LocalTensor<float> memory_;
  uint32_t elements_ = 0;
};

// An operand of a function as f32: itself, or a copy.
template <typename T>
LocalTensor<float> AsFloat(const Elements& m, const LocalTensor<T>& x, const LocalTensor<float>& copy,
                           [[maybe_unused]] bool needs_copy) {
  if constexpr (std::is_same_v<T, float>) {
    if (!needs_copy) return x;
    m.Copy(copy, x);
  } else {
    m.Cast(copy, x, RoundMode::CAST_NONE);
  }
  return copy;
}
template <typename T>
void FromFloat(const Elements& m, const LocalTensor<T>& x, const LocalTensor<float>& value) {
  if constexpr (!std::is_same_v<T, float>)
    m.Cast(x, value, std::is_same_v<T, bfloat16_t> ? RoundMode::CAST_RINT : RoundMode::CAST_NONE);
}

// The same for a value at another address: f32 are copied.
template <typename T>
void PutFloat(const Elements& m, const LocalTensor<T>& x, const LocalTensor<float>& value) {
  if constexpr (std::is_same_v<T, float>) {
    m.Copy(x, value);
  } else {
    FromFloat(m, x, value);
  }
}

// dst = f(src), by formula(m, d, s, n), which may use d and the buffers n[0] .. n[nodes - 1] as it likes, but not
// write s.
template <uint32_t nodes, typename T, typename F>
void MapElements(const LocalTensor<T>& dst, const LocalTensor<T>& src, const LocalTensor<uint8_t>& tmp, uint32_t count,
                 Place place, F&& formula) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const Buffers buffers(tmp, nodes + kOperandNodes, count, place);
  LocalTensor<float> n[nodes + 1];
  for (uint32_t i = 0; i < nodes; ++i)
    n[i] = buffers[i + kOperandNodes];
  buffers.ForPieces(count, place, [&](Elements& m, uint32_t first) {
    const LocalTensor<T> to = dst[first], from = src[first];
    const LocalTensor<float> s = AsFloat(m, from, buffers[0], dst.Address() == src.Address());
    LocalTensor<float> d = buffers[1];
    if constexpr (std::is_same_v<T, float>) d = to;
    formula(m, d, s, n);
    FromFloat(m, to, d);
  });
}
// The same of two sources.
template <uint32_t nodes, typename T, typename F>
void MapElements(const LocalTensor<T>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                 const LocalTensor<uint8_t>& tmp, uint32_t count, Place place, F&& formula) {
  ::vinci::ascendc::charge(::vinci::ascendc::Work::call);
  const Buffers buffers(tmp, nodes + kOperandNodes, count, place);
  LocalTensor<float> n[nodes + 1];
  for (uint32_t i = 0; i < nodes; ++i)
    n[i] = buffers[i + kOperandNodes];
  buffers.ForPieces(count, place, [&](Elements& m, uint32_t first) {
    const LocalTensor<T> to = dst[first];
    const LocalTensor<float> a = AsFloat(m, LocalTensor<T>(src0[first]), buffers[0], dst.Address() == src0.Address());
    const LocalTensor<float> b = AsFloat(m, LocalTensor<T>(src1[first]), buffers[1], dst.Address() == src1.Address());
    LocalTensor<float> d = buffers[2];
    if constexpr (std::is_same_v<T, float>) d = to;
    formula(m, d, a, b, n);
    FromFloat(m, to, d);
  });
}
}  // namespace vinci_detail

// A form of a function of tensors: the parameters, temporary memory and count that it has. Kernels also take the
// address of one (VINCI_WITH_PLACE).
#define VINCI_MAP_FORM(Name, formula, parameters, arguments, count)                                       \
  template <typename T, bool isReuseSource = false>                                                       \
  void Name(VINCI_LIST parameters, VINCI_PLACE) VINCI_WITH_PLACE {                                        \
    vinci_detail::MapElements<vinci_detail::TmpNodes::Name>(VINCI_LIST arguments, count, place, formula); \
  }                                                                                                       \
  template <typename T, bool isReuseSource = false>                                                       \
  void Name(VINCI_LIST parameters) {                                                                      \
    constexpr auto place = VINCI_NO_PLACE;                                                                \
    vinci_detail::MapElements<vinci_detail::TmpNodes::Name>(VINCI_LIST arguments, count, place, formula); \
  }
#define VINCI_LIST(...) __VA_ARGS__
// With temporary memory or without, of the first elements or of all.
#define VINCI_ALL_MAP_FORMS(Name, formula, parameters, arguments, whole)                                        \
  VINCI_MAP_FORM(Name, formula,                                                                                 \
                 (VINCI_LIST parameters, const LocalTensor<uint8_t>& sharedTmpBuffer, const uint32_t calCount), \
                 (VINCI_LIST arguments, sharedTmpBuffer), calCount)                                             \
  VINCI_MAP_FORM(Name, formula, (VINCI_LIST parameters, const LocalTensor<uint8_t>& sharedTmpBuffer),           \
                 (VINCI_LIST arguments, sharedTmpBuffer), whole)                                                \
  VINCI_MAP_FORM(Name, formula, (VINCI_LIST parameters, const uint32_t calCount),                               \
                 (VINCI_LIST arguments, vinci_detail::StackBuffer(place)), calCount)                            \
  VINCI_MAP_FORM(Name, formula, parameters, (VINCI_LIST arguments, vinci_detail::StackBuffer(place)), whole)
// A function of one tensor, and of two.
#define VINCI_MAP_FORMS(Name, formula)                                                                   \
  VINCI_ALL_MAP_FORMS(Name, formula, (const LocalTensor<T>& dstTensor, const LocalTensor<T>& srcTensor), \
                      (dstTensor, srcTensor), srcTensor.GetSize())
#define VINCI_MAP2_FORMS(Name, formula)                                                                          \
  VINCI_ALL_MAP_FORMS(Name, formula,                                                                             \
                      (const LocalTensor<T>& dstTensor, const LocalTensor<T>& src0, const LocalTensor<T>& src1), \
                      (dstTensor, src0, src1), src0.GetSize())

}  // namespace AscendC
