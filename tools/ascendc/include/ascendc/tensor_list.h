// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/tensor.h"

// Layout in global memory of an input with any number of tensors: the offset of their pointers in bytes;
// of each tensor its dimensions, its index (32 bits each) and its shape (64 bits each); then the pointers.
// Documentation: Ascend C API, ListTensorDesc, TensorDesc.
namespace AscendC {

template <typename T>
class TensorDesc {
 public:
  void SetShapeAddr(uint64_t* shapePtr) { shape_ = shapePtr; }
  uint64_t GetDim() const { return dim_; }
  uint64_t GetIndex() const { return index_; }
  uint64_t GetShape(uint32_t offset, VINCI_PLACE) const {
    if (shape_ == nullptr) ::vinci::ascendc::wrong("TensorDesc: SetShapeAddr is missing before GetDesc", place);
    if (offset >= dim_) ::vinci::ascendc::wrong("TensorDesc: the tensor has not so many dimensions", place);
    return shape_[offset];
  }
  T* GetDataPtr() const { return pointer_; }
  GlobalTensor<vinci_detail::Element<T>> GetDataObj() const {
    GlobalTensor<vinci_detail::Element<T>> out;
    out.SetGlobalBuffer((__gm__ vinci_detail::Element<T>*)pointer_);
    return out;
  }

 private:
  friend class ListTensorDesc;
  uint64_t* shape_ = nullptr;
  uint64_t dim_ = 0, index_ = 0;
  T* pointer_ = nullptr;
};

class ListTensorDesc {
 public:
  ListTensorDesc() = default;
  ListTensorDesc(__gm__ void* data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff, VINCI_PLACE) {
    Init(data, length, shapeSize, place);
  }
  // `length` and `shapeSize`, the bytes and the number of the pointers, are checked if they are given.
  void Init(__gm__ void* data, uint32_t length = 0xffffffff, uint32_t shapeSize = 0xffffffff, VINCI_PLACE) {
    data_ = reinterpret_cast<uintptr_t>(data);
    pointers_ = Word(data_, place);
    size_ = 0;
    for (uint64_t at = kFirst; at < pointers_; ++size_)
      at += kFirst + 8 * Dimensions(at, place);
    const uint64_t bytes = pointers_ + uint64_t{size_} * 8;
    if ((length != 0xffffffff && bytes > length) || (shapeSize != 0xffffffff && size_ != shapeSize))
      ::vinci::ascendc::wrong("ListTensorDesc: the list is longer than it is said to be", place);
  }
  uint32_t GetSize() const { return size_; }
  template <typename T>
  T* GetDataPtr(uint32_t index, VINCI_PLACE) const {
    return (T*)Word(data_ + pointers_ + 8 * Checked(index, place), place);
  }
  template <typename T>
  void GetDesc(TensorDesc<T>& desc, uint32_t index, VINCI_PLACE) const {
    uint64_t at = kFirst;
    for (uint32_t i = 0; i < Checked(index, place); ++i)
      at += kFirst + 8 * Dimensions(at, place);
    desc.dim_ = Dimensions(at, place);
    desc.index_ = Word(data_ + at, place) >> 32;
    for (uint64_t i = 0; desc.shape_ != nullptr && i < desc.dim_; ++i)
      desc.shape_[i] = Word(data_ + at + kFirst + 8 * i, place);
    desc.pointer_ = GetDataPtr<T>(index, place);
  }

 private:
  static constexpr uint64_t kFirst = 8;

  static uint64_t Word(uint64_t address, vinci_detail::Place place) {
    return ::vinci::ascendc::load(::vinci::ascendc::Memory::gm, address, 8, place);
  }
  uint64_t Dimensions(uint64_t at, vinci_detail::Place place) const { return Word(data_ + at, place) & 0xffffffff; }
  uint32_t Checked(uint32_t index, vinci_detail::Place place) const {
    if (index >= size_) ::vinci::ascendc::wrong("ListTensorDesc: the list has not so many tensors", place);
    return index;
  }

  uint64_t data_ = 0, pointers_ = 0;
  uint32_t size_ = 0;
};

}  // namespace AscendC
