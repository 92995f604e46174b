// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Attributes of an operator, by the index that its definition gives them. Documentation: operator host API, gert.
namespace gert {

// A list; GetData() is its first element.
class ContinuousVector {
 public:
  std::size_t GetSize() const { return size_; }
  std::size_t GetCapacity() const { return size_; }
  const void* GetData() const { return data_; }
  void* MutableData() { return const_cast<void*>(data_); }
  void VinciSet(const void* data, std::size_t size) {
    data_ = data;
    size_ = size;
  }

 protected:
  const void* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class T>
class TypedContinuousVector : public ContinuousVector {
 public:
  const T* GetData() const { return static_cast<const T*>(data_); }
};

class ContinuousVectorVector {
 public:
  std::size_t GetSize() const { return lists_.size(); }
  const ContinuousVector* Get(std::size_t i) const { return i < lists_.size() ? &lists_[i] : nullptr; }
  std::vector<ContinuousVector>& VinciLists() { return lists_; }

 private:
  std::vector<ContinuousVector> lists_;
};

class RuntimeAttrs {
 public:
  std::size_t GetAttrNum() const { return values_.size(); }
  // The null pointer behind the last attribute, and for one that has no value.
  // Of a Float attribute also as double: packages whose interface takes a double read it so.
  template <class T>
  const T* GetAttrPointer(std::size_t i) const {
    if constexpr (std::is_same_v<T, double>) {
      if (const auto wide = doubles_.find(i); wide != doubles_.end()) return &wide->second;
    }
    return i < values_.size() ? static_cast<const T*>(values_[i]) : nullptr;
  }
  const std::int64_t* GetInt(std::size_t i) const { return GetAttrPointer<std::int64_t>(i); }
  const float* GetFloat(std::size_t i) const { return GetAttrPointer<float>(i); }
  const bool* GetBool(std::size_t i) const { return GetAttrPointer<bool>(i); }
  const char* GetStr(std::size_t i) const { return GetAttrPointer<char>(i); }
  const TypedContinuousVector<std::int64_t>* GetListInt(std::size_t i) const {
    return GetAttrPointer<TypedContinuousVector<std::int64_t>>(i);
  }
  const TypedContinuousVector<float>* GetListFloat(std::size_t i) const {
    return GetAttrPointer<TypedContinuousVector<float>>(i);
  }
  const TypedContinuousVector<bool>* GetListBool(std::size_t i) const {
    return GetAttrPointer<TypedContinuousVector<bool>>(i);
  }
  const ContinuousVectorVector* GetListListInt(std::size_t i) const {
    return GetAttrPointer<ContinuousVectorVector>(i);
  }

  void VinciAddNone() { values_.push_back(nullptr); }
  // Keeps the value, so that pointers to it stay good.
  template <class T>
  T& VinciAdd(T value) {
    if constexpr (std::is_same_v<T, float>) doubles_[values_.size()] = value;
    auto kept = std::make_shared<T>(std::move(value));
    owned_.push_back(kept);
    values_.push_back(kept.get());
    return *kept;
  }
  void VinciAddText(const std::string& text) {
    auto kept = std::make_shared<std::string>(text);
    owned_.push_back(kept);
    values_.push_back(kept->c_str());
  }
  template <class T>
  void VinciAddList(std::vector<T> values) {
    auto kept = std::make_shared<std::vector<T>>(std::move(values));
    owned_.push_back(kept);
    VinciAdd(TypedContinuousVector<T>()).VinciSet(kept->data(), kept->size());
  }
  void VinciAddLists(const std::vector<std::vector<std::int64_t>>& lists) {
    auto kept = std::make_shared<std::vector<std::vector<std::int64_t>>>(lists);
    owned_.push_back(kept);
    auto& out = VinciAdd(ContinuousVectorVector()).VinciLists();
    for (const auto& list : *kept)
      out.emplace_back().VinciSet(list.data(), list.size());
  }

 private:
  std::vector<std::shared_ptr<void>> owned_;
  std::vector<const void*> values_;
  std::map<std::size_t, double> doubles_;  // of Float attributes
};

}  // namespace gert
