// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

#include "ascendc/graph_types.h"

// Tensors as the host's functions of an operator see them: shapes before and after formatting, types, data.
// Documentation: operator host API, gert.
namespace gert {

class Shape {
 public:
  static constexpr std::size_t kMaxDimNum = 25;
  static constexpr std::int64_t kInvalidDimValue = std::numeric_limits<std::int64_t>::min();

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) {
    for (const std::int64_t dim : dims)
      AppendDim(dim);
  }

  std::size_t GetDimNum() const { return rank_; }
  void SetDimNum(std::size_t rank) { rank_ = rank < kMaxDimNum ? rank : kMaxDimNum; }
  std::int64_t GetDim(std::size_t i) const { return i < rank_ ? dims_[i] : kInvalidDimValue; }
  void SetDim(std::size_t i, std::int64_t value) {
    if (i < kMaxDimNum) dims_[i] = value;
  }
  std::int64_t operator[](std::size_t i) const { return GetDim(i); }
  std::int64_t& operator[](std::size_t i) { return dims_[i < kMaxDimNum ? i : kMaxDimNum - 1]; }
  Shape& AppendDim(std::int64_t value) {
    if (rank_ < kMaxDimNum) dims_[rank_++] = value;
    return *this;
  }
  bool IsScalar() const { return rank_ == 0; }
  void SetScalar() { rank_ = 0; }
  // The number of elements: 1 for a scalar, negative where a dimension is not known.
  std::int64_t GetShapeSize() const {
    std::int64_t size = 1;
    for (std::size_t i = 0; i < rank_; ++i)
      size *= dims_[i];
    return size;
  }
  bool operator==(const Shape& other) const {
    if (rank_ != other.rank_) return false;
    for (std::size_t i = 0; i < rank_; ++i) {
      if (dims_[i] != other.dims_[i]) return false;
    }
    return true;
  }
  bool operator!=(const Shape& other) const { return !(*this == other); }

 private:
  std::size_t rank_ = 0;
  std::int64_t dims_[kMaxDimNum] = {};
};

// Of a tensor that is a view of another one, in elements.
class Stride {
 public:
  std::size_t GetDimNum() const { return rank_; }
  void SetDimNum(std::size_t rank) { rank_ = rank < Shape::kMaxDimNum ? rank : Shape::kMaxDimNum; }
  std::int64_t GetStride(std::size_t i) const { return i < rank_ ? strides_[i] : Shape::kInvalidDimValue; }
  void SetStride(std::size_t i, std::int64_t value) {
    if (i < Shape::kMaxDimNum) strides_[i] = value;
  }
  Stride& AppendStride(std::int64_t value) {
    if (rank_ < Shape::kMaxDimNum) strides_[rank_++] = value;
    return *this;
  }

 private:
  std::size_t rank_ = 0;
  std::int64_t strides_[Shape::kMaxDimNum] = {};
};

class StorageShape {
 public:
  StorageShape() = default;
  StorageShape(std::initializer_list<std::int64_t> origin, std::initializer_list<std::int64_t> storage)
      : origin_(origin), storage_(storage) {}
  StorageShape(const Shape& origin, const Shape& storage) : origin_(origin), storage_(storage) {}

  const Shape& GetOriginShape() const { return origin_; }
  const Shape& GetStorageShape() const { return storage_; }
  const Shape& GetShape() const { return storage_; }
  Shape& MutableOriginShape() { return origin_; }
  Shape& MutableStorageShape() { return storage_; }
  bool operator==(const StorageShape& other) const { return origin_ == other.origin_ && storage_ == other.storage_; }
  bool operator!=(const StorageShape& other) const { return !(*this == other); }

 private:
  Shape origin_, storage_;
};

class ExpandDimsType {};

class StorageFormat {
 public:
  StorageFormat() = default;
  StorageFormat(ge::Format origin, ge::Format storage, const ExpandDimsType& = {})
      : origin_(origin), storage_(storage) {}

  ge::Format GetOriginFormat() const { return origin_; }
  ge::Format GetStorageFormat() const { return storage_; }
  void SetOriginFormat(ge::Format format) { origin_ = format; }
  void SetStorageFormat(ge::Format format) { storage_ = format; }
  ExpandDimsType GetExpandDimsType() const { return {}; }

 private:
  ge::Format origin_ = ge::FORMAT_ND, storage_ = ge::FORMAT_ND;
};

// What is known of a tensor besides its shape.
class CompileTimeTensorDesc {
 public:
  ge::DataType GetDataType() const { return type_; }
  const StorageFormat& GetFormat() const { return format_; }
  ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
  ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
  ExpandDimsType GetExpandDimsType() const { return {}; }
  void SetDataType(ge::DataType type) { type_ = type; }
  void SetOriginFormat(ge::Format format) { format_.SetOriginFormat(format); }
  void SetStorageFormat(ge::Format format) { format_.SetStorageFormat(format); }

 private:
  ge::DataType type_ = ge::DT_UNDEFINED;
  StorageFormat format_;
};

enum TensorPlacement { kOnDeviceHbm, kOnHost, kFollowing, kOnDeviceP2p, kTensorPlacementEnd };

class Tensor {
 public:
  Tensor() = default;
  Tensor(const StorageShape& shape, const StorageFormat& format, ge::DataType type)
      : shape_(shape), format_(format), type_(type) {}

  const StorageShape& GetShape() const { return shape_; }
  StorageShape& GetShape() { return shape_; }
  const Shape& GetOriginShape() const { return shape_.GetOriginShape(); }
  const Shape& GetStorageShape() const { return shape_.GetStorageShape(); }
  Shape& MutableOriginShape() { return shape_.MutableOriginShape(); }
  Shape& MutableStorageShape() { return shape_.MutableStorageShape(); }
  const StorageFormat& GetFormat() const { return format_; }
  StorageFormat& MutableFormat() { return format_; }
  ge::Format GetOriginFormat() const { return format_.GetOriginFormat(); }
  ge::Format GetStorageFormat() const { return format_.GetStorageFormat(); }
  void SetOriginFormat(ge::Format format) { format_.SetOriginFormat(format); }
  void SetStorageFormat(ge::Format format) { format_.SetStorageFormat(format); }
  ge::DataType GetDataType() const { return type_; }
  void SetDataType(ge::DataType type) { type_ = type; }
  std::int64_t GetShapeSize() const { return GetStorageShape().GetShapeSize(); }
  // The null pointer where the host does not know the contents: they are on the device.
  template <class T>
  const T* GetData() const {
    return static_cast<const T*>(GetAddr());
  }
  template <class T>
  T* GetData() {
    return static_cast<T*>(GetAddr());
  }
  const void* GetAddr() const { return data_ == nullptr ? nullptr : data_->data(); }
  void* GetAddr() { return data_ == nullptr ? nullptr : data_->data(); }
  std::size_t GetSize() const { return data_ == nullptr ? 0 : data_->size(); }
  TensorPlacement GetPlacement() const { return data_ == nullptr ? kOnDeviceHbm : kOnHost; }
  void VinciSetData(std::vector<char>* data) { data_ = data; }

 private:
  StorageShape shape_;
  StorageFormat format_;
  ge::DataType type_ = ge::DT_UNDEFINED;
  std::vector<char>* data_ = nullptr;
};

template <class T>
class Range {
 public:
  Range() = default;
  Range(T* min, T* max) : min_(min), max_(max) {}
  const T* GetMin() const { return min_; }
  const T* GetMax() const { return max_; }
  T* GetMin() { return min_; }
  T* GetMax() { return max_; }
  void SetMin(T* value) { min_ = value; }
  void SetMax(T* value) { max_ = value; }

 private:
  T *min_ = nullptr, *max_ = nullptr;
};

}  // namespace gert
