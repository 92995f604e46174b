// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdio>

#include "ascendc/language.h"

// LocalTensor and GlobalTensor: an address with a type. Documentation: Ascend C API, data structures.
namespace AscendC {

namespace vinci_detail {
constexpr uint32_t kMaxDimensions = 8;
}  // namespace vinci_detail

enum class DataFormat : uint8_t { ND = 0, NZ, NCHW, NC1HWC0, NHWC, NCDHW, NDC1HWC0, FRACTAL_Z_3D };

struct ShapeInfo {
  ShapeInfo() = default;
  ShapeInfo(uint8_t dims, const uint32_t* sizes, uint8_t original_dims, const uint32_t* original_sizes,
            DataFormat format = DataFormat::ND)
      : shapeDim(dims), originalShapeDim(original_dims), dataFormat(format) {
    for (uint32_t i = 0; i < dims && i < vinci_detail::kMaxDimensions; ++i)
      shape[i] = sizes[i];
    for (uint32_t i = 0; i < original_dims && i < vinci_detail::kMaxDimensions; ++i)
      originalShape[i] = original_sizes[i];
  }
  ShapeInfo(uint8_t dims, const uint32_t* sizes, DataFormat format = DataFormat::ND)
      : ShapeInfo(dims, sizes, dims, sizes, format) {}
  uint8_t shapeDim = 0, originalShapeDim = 0;
  uint32_t shape[vinci_detail::kMaxDimensions]{}, originalShape[vinci_detail::kMaxDimensions]{};
  DataFormat dataFormat = DataFormat::ND;
};

namespace vinci_detail {
// An element that can be read and assigned: tensor(i) = tensor(j).
template <typename Tensor, typename Index>
class TensorElement {
 public:
  using T = typename Tensor::PrimType;

  TensorElement(const Tensor& tensor, Index index, Place place) : tensor_(tensor), index_(index), place_(place) {}
  operator T() const { return tensor_.GetValue(index_, place_); }  // NOLINT(google-explicit-constructor)
  TensorElement& operator=(T value) {
    tensor_.SetValue(index_, value, place_);
    return *this;
  }
  TensorElement& operator=(const TensorElement& other) { return *this = static_cast<T>(other); }
#define VINCI_ASSIGNMENT(symbol)                                       \
  template <typename U>                                                \
  TensorElement& operator symbol##=(U value) {                         \
    return *this = static_cast<T>(static_cast<T>(*this) symbol value); \
  }
  VINCI_ASSIGNMENT(+)
  VINCI_ASSIGNMENT(-)
  VINCI_ASSIGNMENT(*)
  VINCI_ASSIGNMENT(/)
  VINCI_ASSIGNMENT(%)
  VINCI_ASSIGNMENT(&)
  VINCI_ASSIGNMENT(|)
  VINCI_ASSIGNMENT(^)
  VINCI_ASSIGNMENT(<<)
  VINCI_ASSIGNMENT(>>)
#undef VINCI_ASSIGNMENT
  TensorElement& operator++() { return *this += 1; }
  TensorElement& operator--() { return *this -= 1; }
  T operator++(int) {
    const T before = *this;
    *this = static_cast<T>(before + 1);
    return before;
  }
  T operator--(int) {
    const T before = *this;
    *this = static_cast<T>(before - 1);
    return before;
  }

 private:
  Tensor tensor_;
  Index index_;
  Place place_;
};
}  // namespace vinci_detail

using TTagType = int32_t;
// What a queue or a buffer of a TPipe knows a tensor by.
using TBufHandle = void*;

namespace vinci_detail {
// What `src0 + src1` and the like are until they are assigned; Evaluate (whole.h) computes them.
enum class TensorOperator : uint8_t { Add, Sub, Mul, Div, And, Or, LT, GT, LE, GE, EQ, NE };
}  // namespace vinci_detail

// Where a tensor in a memory of the core is: an address and a length in bytes, in the memory of a position.
struct TBuffAddr {
  uint32_t dataLen = 0;
  uint32_t bufferAddr = 0;
  TBufHandle bufferHandle = nullptr;
  uint8_t logicPos = static_cast<uint8_t>(TPosition::MAX);
};

template <typename T>
class LocalTensor;
namespace vinci_detail {
template <typename T>
struct TensorOperand {
  // NOLINTNEXTLINE(google-explicit-constructor)
  TensorOperand(const LocalTensor<T>& of, Place at = Place::here()) : tensor(of), place(at) {}
  const LocalTensor<T>& tensor;
  Place place;
};
template <typename T, TensorOperator op>
struct TensorExpression {
  LocalTensor<T> src0, src1;
  Place place;
};
}  // namespace vinci_detail

// A tensor in a memory of the core: an address in bytes in the memory of its position.
template <typename T>
class LocalTensor {
 public:
  using PrimType = T;

  LocalTensor() = default;
  LocalTensor(TPosition position, uint32_t address, uint32_t elements)
      : LocalTensor(position, address, static_cast<uint32_t>(vinci_detail::BytesOf<T>(elements)), nullptr) {}
  LocalTensor(TPosition position, uint32_t address, uint32_t bytes, TBufHandle handle)
      : address_{bytes, address, handle, static_cast<uint8_t>(position)} {}
  explicit LocalTensor(uint32_t address) : LocalTensor(TPosition::VECCALC, address, 0, nullptr) {}
  explicit LocalTensor(const TBuffAddr& address) : address_(address) {}
  void SetAddr(const TBuffAddr& address) { address_ = address; }

  T GetValue(uint32_t index, VINCI_PLACE) const {
    static_assert(!std::is_same_v<T, int4b_t>, "GetValue of int4b_t is not supported by Vinci");
    return vinci_detail::FromBits<T>(::vinci::ascendc::load(vinci_detail::MemoryOf(GetPosition()),
                                                            address_.bufferAddr + vinci_detail::BytesOf<T>(index),
                                                            sizeof(T), place));
  }
  template <typename U>
  void SetValue(uint32_t index, U value, VINCI_PLACE) const {
    static_assert(!std::is_same_v<T, int4b_t>, "SetValue of int4b_t is not supported by Vinci");
    ::vinci::ascendc::store(vinci_detail::MemoryOf(GetPosition()),
                            address_.bufferAddr + vinci_detail::BytesOf<T>(index), sizeof(T),
                            vinci_detail::BitsOf<T>(static_cast<T>(value)), place);
  }

  vinci_detail::TensorElement<LocalTensor, uint32_t> operator()(uint32_t index, VINCI_PLACE) const {
    return {*this, index, place};
  }

  template <typename U, vinci_detail::TensorOperator op>
  LocalTensor& operator=(const vinci_detail::TensorExpression<U, op>& expression) {
    Evaluate(*this, expression);
    return *this;
  }
#define VINCI_OPERATOR(symbol, name)                                                            \
  friend vinci_detail::TensorExpression<T, vinci_detail::TensorOperator::name> operator symbol( \
      vinci_detail::TensorOperand<T> src0, vinci_detail::TensorOperand<T> src1) {               \
    return {src0.tensor, src1.tensor, src0.place};                                              \
  }
  VINCI_OPERATOR(+, Add)
  VINCI_OPERATOR(-, Sub)
  VINCI_OPERATOR(*, Mul)
  VINCI_OPERATOR(/, Div)
  VINCI_OPERATOR(&, And)
  VINCI_OPERATOR(|, Or)
  VINCI_OPERATOR(<, LT)
  VINCI_OPERATOR(>, GT)
  VINCI_OPERATOR(<=, LE)
  VINCI_OPERATOR(>=, GE)
  VINCI_OPERATOR(==, EQ)
  VINCI_OPERATOR(!=, NE)
#undef VINCI_OPERATOR

  LocalTensor operator[](uint32_t offset) const {
    const auto skipped = static_cast<uint32_t>(vinci_detail::BytesOf<T>(offset));
    return {GetPosition(), address_.bufferAddr + skipped, address_.dataLen > skipped ? address_.dataLen - skipped : 0,
            address_.bufferHandle};
  }
  template <typename U>
  LocalTensor<U> ReinterpretCast() const {
    return {GetPosition(), address_.bufferAddr, address_.dataLen, address_.bufferHandle};
  }

  uint32_t GetSize() const { return address_.dataLen * 8 / vinci_detail::kBitsOf<T>; }
  uint32_t GetLength() const { return address_.dataLen; }
  void SetSize(uint32_t elements) { address_.dataLen = static_cast<uint32_t>(vinci_detail::BytesOf<T>(elements)); }
  void SetBufferLen(uint32_t elements) { SetSize(elements); }
  void SetAddrWithOffset(LocalTensor<T>& from, uint32_t offset) { *this = from[offset]; }
  template <typename U>
  void SetAddrWithOffset(LocalTensor<U>& from, uint32_t offset) {
    *this = from.template ReinterpretCast<T>()[offset];
  }
  // The address in its memory: it means something to instructions only.
  uint64_t GetPhyAddr(uint32_t offset = 0) const { return address_.bufferAddr + vinci_detail::BytesOf<T>(offset); }
  uint32_t Address() const { return address_.bufferAddr; }
  TPosition GetPosition() const { return static_cast<TPosition>(address_.logicPos); }
  TBufHandle GetBufferHandle() const { return address_.bufferHandle; }
  TBufHandle Handle() const { return address_.bufferHandle; }

  // Prints elements as they are now.
  void Print(uint32_t elements, VINCI_PLACE) const {
    for (uint32_t i = 0; i < elements; ++i)
      std::printf("%g%c", static_cast<double>(GetValue(i, place)), (i + 1) % 16 == 0 || i + 1 == elements ? '\n' : ' ');
  }
  void Print(VINCI_PLACE) const { Print(GetSize(), place); }

  void SetUserTag(int32_t tag) { tag_ = tag; }
  int32_t GetUserTag() const { return tag_; }
  void SetShapeInfo(const ShapeInfo& shape) { shape_ = shape; }
  ShapeInfo GetShapeInfo() const { return shape_; }

  // Makes it a tensor of so many elements at an address in bytes; its position stays.
  void InitBuffer(uint32_t address, uint32_t elements) {
    address_.bufferAddr = address;
    SetSize(elements);
  }

  TBuffAddr address_;  // public as in the published class: kernels set its position

 private:
  int32_t tag_ = 0;
  ShapeInfo shape_{};
};

// A tensor in global memory. Its pointer is a device address; kernels of the simulator may also follow it directly,
// which nothing is charged for.
template <typename T>
class GlobalTensor {
 public:
  using PrimType = T;

  void SetGlobalBuffer(__gm__ T* buffer, uint64_t elements) {
    pointer_ = InDevice(buffer, elements);
    elements_ = elements;
  }
  void SetGlobalBuffer(__gm__ T* buffer) { pointer_ = InDevice(buffer, 0); }

  T GetValue(uint64_t index, VINCI_PLACE) const {
    return vinci_detail::FromBits<T>(
        ::vinci::ascendc::load(::vinci::ascendc::Memory::gm, AddressOf(index), sizeof(T), place));
  }
  void SetValue(uint64_t index, T value, VINCI_PLACE) const {
    ::vinci::ascendc::store(::vinci::ascendc::Memory::gm, AddressOf(index), sizeof(T), vinci_detail::BitsOf<T>(value),
                            place);
  }
  vinci_detail::TensorElement<GlobalTensor, uint64_t> operator()(uint64_t index, VINCI_PLACE) const {
    return {*this, index, place};
  }

  GlobalTensor operator[](uint64_t offset) const {
    GlobalTensor out = *this;
    out.pointer_ = GetPhyAddr(offset);
    if (elements_ != 0) out.elements_ = elements_ > offset ? elements_ - offset : 0;
    return out;
  }
  template <typename U>
  GlobalTensor<U> ReinterpretCast() const {
    GlobalTensor<U> out;
    out.SetGlobalBuffer(reinterpret_cast<__gm__ U*>(pointer_),
                        elements_ * vinci_detail::kBitsOf<T> / vinci_detail::kBitsOf<U>);
    return out;
  }

  __gm__ T* GetPhyAddr(uint64_t offset = 0) const { return reinterpret_cast<__gm__ T*>(AddressOf(offset)); }
  uint64_t Address() const { return AddressOf(0); }
  uint64_t GetSize() const { return elements_; }
  void SetShapeInfo(const ShapeInfo& shape) { shape_ = shape; }
  ShapeInfo GetShapeInfo() const { return shape_; }
  // Holds for the whole buffer of the address, and for the whole run.
  template <CacheRwMode Mode = CacheRwMode::RW>
  void SetL2CacheHint(CacheMode mode, VINCI_PLACE) {
    ::vinci::ascendc::set_l2(
        Address(), mode == CacheMode::CACHE_MODE_DISABLE ? ::vinci::ascendc::L2::bypass : ::vinci::ascendc::L2::normal,
        place);
  }

 private:
  static __gm__ T* InDevice(__gm__ T* buffer, uint64_t elements) {
    const uint64_t bytes = elements * vinci_detail::kBitsOf<T> / 8;
    return reinterpret_cast<__gm__ T*>(::vinci::ascendc::constants(reinterpret_cast<uint64_t>(buffer), bytes));
  }
  uintptr_t AddressOf(uint64_t index) const {
    return reinterpret_cast<uintptr_t>(pointer_) + vinci_detail::BytesOf<T>(index);
  }

  __gm__ T* pointer_ = nullptr;
  uint64_t elements_ = 0;
  ShapeInfo shape_{};
};

}  // namespace AscendC
