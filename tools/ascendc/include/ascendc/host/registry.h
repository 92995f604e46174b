// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "ascendc/host/contexts.h"
#include "ascendc/host/type_utils.h"
#include "securec.h"

// The host's functions of operators, by the operator's name. Documentation: operator host API, IMPL_OP_OPTILING,
// IMPL_OP_INFERSHAPE.
namespace gert {

enum class TilingPlacement : std::uint32_t { TILING_ON_HOST = 0, TILING_ON_AICPU = 1 };

// What is registered for one operator.
struct VinciOperator {
  ge::graphStatus (*tiling)(TilingContext*) = nullptr;
  ge::graphStatus (*tiling_parse)(TilingParseContext*) = nullptr;
  std::shared_ptr<void> (*compile_info)() = nullptr;
  ge::graphStatus (*infer_shape)(InferShapeContext*) = nullptr;
  ge::graphStatus (*infer_type)(InferDataTypeContext*) = nullptr;
  std::vector<std::size_t> host_inputs;  // of the definition: their contents are known to tiling
  bool type_of_first_input = false;
};

inline std::map<std::string, VinciOperator>& VinciOperators() {
  static std::map<std::string, VinciOperator> all;
  return all;
}

class OpImplRegisterV2 {
 public:
  explicit OpImplRegisterV2(const char* name) : op_(&VinciOperators()[name]) {}

  OpImplRegisterV2& Tiling(ge::graphStatus (*function)(TilingContext*), std::size_t = 0) {
    op_->tiling = function;
    return *this;
  }
  template <class T, class Context>
  OpImplRegisterV2& TilingParse(ge::graphStatus (*function)(Context*)) {
    op_->tiling_parse = reinterpret_cast<ge::graphStatus (*)(TilingParseContext*)>(function);
    op_->compile_info = []() -> std::shared_ptr<void> { return std::make_shared<T>(); };
    return *this;
  }
  template <class Context>
  OpImplRegisterV2& TilingParse(ge::graphStatus (*function)(Context*)) {
    op_->tiling_parse = reinterpret_cast<ge::graphStatus (*)(TilingParseContext*)>(function);
    return *this;
  }
  OpImplRegisterV2& InferShape(ge::graphStatus (*function)(InferShapeContext*)) {
    op_->infer_shape = function;
    return *this;
  }
  OpImplRegisterV2& InferShapeRange(ge::graphStatus (*)(InferShapeRangeContext*)) { return *this; }
  OpImplRegisterV2& InferDataType(ge::graphStatus (*function)(InferDataTypeContext*)) {
    op_->infer_type = function;
    return *this;
  }
  OpImplRegisterV2& InferOutDataTypeSameWithFirstInput() {
    op_->type_of_first_input = true;
    return *this;
  }
  OpImplRegisterV2& InputsDataDependency(std::initializer_list<std::int32_t> inputs) {
    op_->host_inputs.insert(op_->host_inputs.end(), inputs.begin(), inputs.end());
    return *this;
  }
  OpImplRegisterV2& TilingInputsDataDependency(std::initializer_list<std::int32_t> inputs,
                                               std::initializer_list<TilingPlacement> = {}) {
    return InputsDataDependency(inputs);
  }
  OpImplRegisterV2& HostInputs(std::initializer_list<std::int32_t>) { return *this; }
  OpImplRegisterV2& OutputShapeDependOnCompute(std::initializer_list<std::int32_t>) { return *this; }
  template <class... T>
  OpImplRegisterV2& PrivateAttr(T&&...) {
    return *this;
  }
  template <class Function>
  OpImplRegisterV2& GenSimplifiedKey(Function) {
    return *this;
  }
  template <class Function>
  OpImplRegisterV2& OpExecuteFunc(Function) {
    return *this;
  }

 private:
  VinciOperator* op_;
};
using OpImplRegister = OpImplRegisterV2;

}  // namespace gert

#define VINCI_JOIN_(a, b) a##b
#define VINCI_JOIN(a, b) VINCI_JOIN_(a, b)
#define IMPL_OP(name)                                                                          \
  [[maybe_unused]] static ::gert::OpImplRegisterV2 VINCI_JOIN(vinci_registered, __COUNTER__) = \
      ::gert::OpImplRegisterV2(#name)
#define IMPL_OP_OPTILING(name) IMPL_OP(name)
#define IMPL_OP_INFERSHAPE(name) IMPL_OP(name)
#define IMPL_OP_DEFAULT(name) IMPL_OP(name)
