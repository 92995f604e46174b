// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "ascendc/graph_operator.h"
#include "ascendc/host/attributes.h"
#include "ascendc/host/platform_infos.h"
#include "ascendc/host/shape.h"
#include "ascendc/host/type_utils.h"
#include "securec.h"

// What the host's functions of an operator are called with: the tensors and attributes of one use of it, and where they
// say what they found. Documentation: operator host API, TilingContext, InferShapeContext and their kin.
namespace gert {

// The tensors of one input of the definition: none, one, or those of a dynamic input.
class AnchorInstanceInfo {
 public:
  AnchorInstanceInfo() = default;
  AnchorInstanceInfo(std::uint32_t start, std::uint32_t number) : start_(start), number_(number) {}
  std::size_t GetInstanceNum() const { return number_; }
  std::size_t GetInstanceStart() const { return start_; }

 private:
  std::uint32_t start_ = 0, number_ = 0;
};

class TilingData {
 public:
  explicit TilingData(std::size_t capacity) : bytes_((capacity + 7) / 8), capacity_(capacity) {}

  void* GetData() { return bytes_.data(); }
  const void* GetData() const { return bytes_.data(); }
  std::size_t GetCapacity() const { return capacity_; }
  std::size_t GetDataSize() const { return size_; }
  void SetDataSize(std::size_t size) { size_ = size; }
  ge::graphStatus Append(const void* data, std::size_t size) {
    if (size > capacity_ - size_) return ge::GRAPH_FAILED;
    std::memcpy(static_cast<char*>(GetData()) + size_, data, size);
    size_ += size;
    return ge::GRAPH_SUCCESS;
  }
  template <class T>
  ge::graphStatus Append(const T& value) {
    return Append(&value, sizeof(value));
  }
  template <class T>
  ge::graphStatus Append(const T* values, std::size_t number) {
    return Append(static_cast<const void*>(values), number * sizeof(T));
  }

 private:
  std::vector<std::uint64_t> bytes_;  // aligned for any struct
  std::size_t capacity_, size_ = 0;
};

class ComputeNodeInfo;

// One use of an operator: what the contexts show.
struct VinciNode {
  std::string type, name;
  std::deque<Tensor> inputs, outputs;
  std::deque<CompileTimeTensorDesc> input_descs, output_descs;
  std::vector<AnchorInstanceInfo> ir_inputs, ir_outputs;
  RuntimeAttrs attributes;
  bool deterministic = false;
  fe::PlatFormInfos platform;
  std::shared_ptr<void> compile_info;

  TilingData tiling{std::size_t{64} << 10};
  std::vector<std::size_t> workspace_sizes;
  std::uint64_t tiling_key = 0;
  std::uint32_t blocks = 1, schedule_mode = 0;
};

class ComputeNodeInfo {
 public:
  explicit ComputeNodeInfo(const VinciNode& node) : node_(&node) {}
  const char* GetNodeType() const { return node_->type.c_str(); }
  const char* GetNodeName() const { return node_->name.c_str(); }
  std::size_t GetIrInputsNum() const { return node_->ir_inputs.size(); }
  std::size_t GetIrOutputsNum() const { return node_->ir_outputs.size(); }
  std::size_t GetInputsNum() const { return node_->inputs.size(); }
  std::size_t GetOutputsNum() const { return node_->outputs.size(); }
  const AnchorInstanceInfo* GetInputInstanceInfo(std::size_t ir) const {
    return ir < node_->ir_inputs.size() ? &node_->ir_inputs[ir] : nullptr;
  }
  const AnchorInstanceInfo* GetOutputInstanceInfo(std::size_t ir) const {
    return ir < node_->ir_outputs.size() ? &node_->ir_outputs[ir] : nullptr;
  }
  const CompileTimeTensorDesc* GetInputTdInfo(std::size_t i) const {
    return i < node_->input_descs.size() ? &node_->input_descs[i] : nullptr;
  }
  const CompileTimeTensorDesc* GetOutputTdInfo(std::size_t i) const {
    return i < node_->output_descs.size() ? &node_->output_descs[i] : nullptr;
  }
  const RuntimeAttrs* GetAttrs() const { return &node_->attributes; }

 private:
  const VinciNode* node_;
};

// Inputs are counted in two ways: GetInput...(i) is the i-th tensor that is there, GetOptionalInput...(i) and the like
// the i-th input of the definition.
class ExtendedKernelContext {
 public:
  explicit ExtendedKernelContext(VinciNode& node) : node_(&node), info_(node) {}

  const char* GetNodeType() const { return node_->type.c_str(); }
  const char* GetNodeName() const { return node_->name.c_str(); }
  const char* GetKernelType() const { return node_->type.c_str(); }
  const char* GetKernelName() const { return node_->name.c_str(); }
  const ComputeNodeInfo* GetComputeNodeInfo() const { return &info_; }
  std::size_t GetComputeNodeInputNum() const { return node_->inputs.size(); }
  std::size_t GetComputeNodeOutputNum() const { return node_->outputs.size(); }
  const RuntimeAttrs* GetAttrs() const { return &node_->attributes; }
  const AnchorInstanceInfo* GetIrInputInstanceInfo(std::size_t ir) const { return info_.GetInputInstanceInfo(ir); }
  const AnchorInstanceInfo* GetIrOutputInstanceInfo(std::size_t ir) const { return info_.GetOutputInstanceInfo(ir); }
  const CompileTimeTensorDesc* GetInputDesc(std::size_t i) const { return info_.GetInputTdInfo(i); }
  const CompileTimeTensorDesc* GetOptionalInputDesc(std::size_t ir) const { return of(node_->input_descs, ir, 0); }
  const CompileTimeTensorDesc* GetRequiredInputDesc(std::size_t ir) const { return of(node_->input_descs, ir, 0); }
  const CompileTimeTensorDesc* GetDynamicInputDesc(std::size_t ir, std::size_t i) const {
    return of(node_->input_descs, ir, i);
  }
  const CompileTimeTensorDesc* GetOutputDesc(std::size_t i) const { return info_.GetOutputTdInfo(i); }
  bool GetDeterministic() const { return node_->deterministic; }
  std::int32_t GetDeterministicLevel() const { return node_->deterministic ? 1 : 0; }
  VinciNode& VinciUse() const { return *node_; }

 protected:
  // The tensor `i` of the input `ir` of the definition.
  template <class T>
  const T* of(const std::deque<T>& all, std::size_t ir, std::size_t i) const {
    const AnchorInstanceInfo* info = GetIrInputInstanceInfo(ir);
    if (info == nullptr || i >= info->GetInstanceNum()) return nullptr;
    return &all[info->GetInstanceStart() + i];
  }
  const Tensor* tensor(std::size_t i) const { return i < node_->inputs.size() ? &node_->inputs[i] : nullptr; }

  VinciNode* node_;

 private:
  ComputeNodeInfo info_;
};
using KernelContext = ExtendedKernelContext;

class TilingContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;

  const void* GetCompileInfo() const { return node_->compile_info.get(); }
  template <class T>
  const T* GetCompileInfo() const {
    return static_cast<const T*>(GetCompileInfo());
  }
  fe::PlatFormInfos* GetPlatformInfo() const { return &node_->platform; }

  const StorageShape* GetInputShape(std::size_t i) const { return shape(tensor(i)); }
  const StorageShape* GetOptionalInputShape(std::size_t ir) const { return shape(of(node_->inputs, ir, 0)); }
  const StorageShape* GetRequiredInputShape(std::size_t ir) const { return shape(of(node_->inputs, ir, 0)); }
  const StorageShape* GetDynamicInputShape(std::size_t ir, std::size_t i) const {
    return shape(of(node_->inputs, ir, i));
  }
  const Tensor* GetInputTensor(std::size_t i) const { return tensor(i); }
  const Tensor* GetOptionalInputTensor(std::size_t ir) const { return of(node_->inputs, ir, 0); }
  const Tensor* GetRequiredInputTensor(std::size_t ir) const { return of(node_->inputs, ir, 0); }
  const Tensor* GetDynamicInputTensor(std::size_t ir, std::size_t i) const { return of(node_->inputs, ir, i); }
  // Inputs are whole tensors here.
  const Stride* GetInputStride(std::size_t) const { return nullptr; }
  const Stride* GetOptionalInputStride(std::size_t) const { return nullptr; }
  const Stride* GetRequiredInputStride(std::size_t) const { return nullptr; }
  const Stride* GetDynamicInputStride(std::size_t, std::size_t) const { return nullptr; }
  bool InputIsView(std::size_t) const { return false; }
  const StorageShape* GetOutputShape(std::size_t i) const {
    return i < node_->outputs.size() ? shape(&node_->outputs[i]) : nullptr;
  }

  TilingData* GetRawTilingData() const { return &node_->tiling; }
  template <class T>
  T* GetTilingData() const {
    if (sizeof(T) > node_->tiling.GetCapacity()) return nullptr;
    node_->tiling.SetDataSize(sizeof(T));
    return static_cast<T*>(node_->tiling.GetData());
  }
  // Room for `count` sizes in bytes, to be filled.
  std::size_t* GetWorkspaceSizes(std::size_t count) const {
    node_->workspace_sizes.resize(count);
    return node_->workspace_sizes.data();
  }
  std::size_t GetWorkspaceNum() const { return node_->workspace_sizes.size(); }
  ge::graphStatus SetTilingKey(std::uint64_t key) const {
    node_->tiling_key = key;
    return ge::GRAPH_SUCCESS;
  }
  std::uint64_t GetTilingKey() const { return node_->tiling_key; }
  ge::graphStatus SetBlockDim(std::uint32_t blocks) const {
    node_->blocks = blocks;
    return ge::GRAPH_SUCCESS;
  }
  std::uint32_t GetBlockDim() const { return node_->blocks; }
  ge::graphStatus SetAicpuBlockDim(std::uint32_t) const { return ge::GRAPH_SUCCESS; }
  ge::graphStatus SetScheduleMode(std::uint32_t mode) const {
    node_->schedule_mode = mode;
    return ge::GRAPH_SUCCESS;
  }
  std::uint32_t GetScheduleMode() const { return node_->schedule_mode; }
  ge::graphStatus SetNeedAtomic(bool) const { return ge::GRAPH_SUCCESS; }
  ge::graphStatus SetTilingCond(std::int32_t) const { return ge::GRAPH_SUCCESS; }
  ge::graphStatus SetLocalMemorySize(std::uint32_t) const { return ge::GRAPH_SUCCESS; }
  ge::graphStatus SetDynUBufSize(std::uint32_t) const { return ge::GRAPH_SUCCESS; }

 private:
  static const StorageShape* shape(const Tensor* t) { return t == nullptr ? nullptr : &t->GetShape(); }
};

// Called once before the first tiling: fills what the operator keeps of the chip.
class TilingParseContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;
  template <class T>
  T* GetCompiledInfo() const {
    return static_cast<T*>(node_->compile_info.get());
  }
  const char* GetCompiledJson() const { return "{}"; }
  fe::PlatFormInfos* GetPlatformInfo() const { return &node_->platform; }
};

class InferShapeContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;
  const Shape* GetInputShape(std::size_t i) const { return shape(tensor(i)); }
  const Shape* GetOptionalInputShape(std::size_t ir) const { return shape(of(node_->inputs, ir, 0)); }
  const Shape* GetRequiredInputShape(std::size_t ir) const { return shape(of(node_->inputs, ir, 0)); }
  const Shape* GetDynamicInputShape(std::size_t ir, std::size_t i) const { return shape(of(node_->inputs, ir, i)); }
  const Tensor* GetInputTensor(std::size_t i) const { return tensor(i); }
  const Tensor* GetOptionalInputTensor(std::size_t ir) const { return of(node_->inputs, ir, 0); }
  const Tensor* GetRequiredInputTensor(std::size_t ir) const { return of(node_->inputs, ir, 0); }
  const Tensor* GetDynamicInputTensor(std::size_t ir, std::size_t i) const { return of(node_->inputs, ir, i); }
  Shape* GetOutputShape(std::size_t i) const {
    return i < node_->outputs.size() ? &node_->outputs[i].MutableOriginShape() : nullptr;
  }

 private:
  static const Shape* shape(const Tensor* t) { return t == nullptr ? nullptr : &t->GetOriginShape(); }
};

class InferDataTypeContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;
  ge::DataType GetInputDataType(std::size_t i) const { return type(tensor(i)); }
  ge::DataType GetOptionalInputDataType(std::size_t ir) const { return type(of(node_->inputs, ir, 0)); }
  ge::DataType GetRequiredInputDataType(std::size_t ir) const { return type(of(node_->inputs, ir, 0)); }
  ge::DataType GetDynamicInputDataType(std::size_t ir, std::size_t i) const { return type(of(node_->inputs, ir, i)); }
  ge::DataType GetOutputDataType(std::size_t i) const {
    return i < node_->outputs.size() ? node_->outputs[i].GetDataType() : ge::DT_UNDEFINED;
  }
  ge::graphStatus SetOutputDataType(std::size_t i, ge::DataType type) const {
    if (i >= node_->outputs.size()) return ge::GRAPH_FAILED;
    node_->outputs[i].SetDataType(type);
    return ge::GRAPH_SUCCESS;
  }

 private:
  static ge::DataType type(const Tensor* t) { return t == nullptr ? ge::DT_UNDEFINED : t->GetDataType(); }
};

// Shapes with bounds are for graphs with unknown extents: compiled, never called.
class InferShapeRangeContext : public ExtendedKernelContext {
 public:
  using ExtendedKernelContext::ExtendedKernelContext;
  const Range<Shape>* GetInputShapeRange(std::size_t) const { return nullptr; }
  const Range<Shape>* GetOptionalInputShapeRange(std::size_t) const { return nullptr; }
  const Range<Shape>* GetRequiredInputShapeRange(std::size_t) const { return nullptr; }
  const Range<Shape>* GetDynamicInputShapeRange(std::size_t, std::size_t) const { return nullptr; }
  const Range<Tensor>* GetInputTensorRange(std::size_t) const { return nullptr; }
  const Range<Tensor>* GetOptionalInputTensorRange(std::size_t) const { return nullptr; }
  Range<Shape>* GetOutputShapeRange(std::size_t) const { return nullptr; }
};

}  // namespace gert
