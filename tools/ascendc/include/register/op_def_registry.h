// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ascendc/host/registry.h"

// Definitions of operators: inputs and outputs with their data types, by chip, and attributes. `vinci cc --op-host`
// compiles and runs one to learn the macros of its kernel, `vinci op` to call its host functions. Documentation: Ascend
// C operator prototype registration.

namespace ops {

enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class DependScope { ALL, TILING };
enum class FollowType { ALL, DTYPE, FORMAT, SHAPE, INVALID_TYPE };
enum class FormatCheckOption { DEFAULT, STRICT, MAX };
enum class ItemFindStatus { ITEM_FIND, ITEM_NOEXIST };
enum class InitValueType { INIT_VALUE_DEFAULT, INIT_VALUE_UINT64_T };
enum class ScalarType { UINT64, INT64, UINT32, INT32, UINT16, INT16, UINT8, INT8, FLOAT32, FLOAT16, INVALID_TYPE };
enum class HcclServerType { AICPU, AICORE, CCU, MAX };
// What an output is filled with, as a value of a type.
struct ScalarVar {
  ScalarVar() = default;
  template <class T>
  ScalarVar(ScalarType, T value) : zero_(value == T{}) {}
  bool VinciIsZero() const { return zero_; }

 private:
  bool zero_ = true;
};

// Every function that has no say in the kernel's macros: accepted, without an effect.
#define VINCI_OP_IGNORED(type, name) \
  template <class... T>              \
  type& name(T&&...) {               \
    return *this;                    \
  }

class OpParamDef {
 public:
  explicit OpParamDef(const char* name) : name_(name) {}

  OpParamDef& ParamType(Option option) {
    option_ = option;
    return *this;
  }
  OpParamDef& DataType(std::vector<ge::DataType> types) {
    types_ = std::move(types);
    return *this;
  }
  OpParamDef& DataTypeList(std::vector<ge::DataType> types) {
    type_list_ = std::move(types);
    return *this;
  }
  OpParamDef& Format(std::vector<ge::Format> formats) {
    formats_ = std::move(formats);
    return *this;
  }
  OpParamDef& FormatList(std::vector<ge::Format> formats) {
    format_list_ = std::move(formats);
    return *this;
  }
  OpParamDef& Follow(const char* name, FollowType = FollowType::ALL) {
    follow_ = name;
    return *this;
  }
  OpParamDef& UnknownShapeFormat(const std::vector<ge::Format>&) { return *this; }
  OpParamDef& DataTypeForBinQuery(const std::vector<ge::DataType>&) { return *this; }
  OpParamDef& FormatForBinQuery(const std::vector<ge::Format>&) { return *this; }
  // The host's functions read the contents of this input.
  template <class... Scope>
  OpParamDef& ValueDepend(Option, Scope...) {
    on_host_ = true;
    return *this;
  }
  VINCI_OP_IGNORED(OpParamDef, Scalar)
  VINCI_OP_IGNORED(OpParamDef, ScalarList)
  VINCI_OP_IGNORED(OpParamDef, To)
  VINCI_OP_IGNORED(OpParamDef, AutoContiguous)
  VINCI_OP_IGNORED(OpParamDef, IgnoreContiguous)
  VINCI_OP_IGNORED(OpParamDef, Version)
  // What an output holds before the kernel runs; here only zero.
  OpParamDef& InitValue(std::uint64_t value) {
    zeroed_ = value == 0;
    return *this;
  }
  OpParamDef& InitValue(const ScalarVar& value) {
    zeroed_ = value.VinciIsZero();
    return *this;
  }
  OpParamDef& InitValue(const std::vector<ScalarVar>& values) {
    for (const ScalarVar& value : values)
      zeroed_ = value.VinciIsZero();
    return *this;
  }
  VINCI_OP_IGNORED(OpParamDef, OutputShapeDependOnCompute)
  VINCI_OP_IGNORED(OpParamDef, Comment)

  const std::string& VinciName() const { return name_; }
  Option VinciOption() const { return option_; }
  bool VinciOnHost() const { return on_host_; }
  bool VinciZeroed() const { return zeroed_; }

 private:
  friend class OpParams;
  std::string name_, follow_;
  Option option_ = IGNORE;
  bool on_host_ = false, zeroed_ = false;
  std::vector<ge::DataType> types_, type_list_;  // a column for each combination; values for each to be combined
  std::vector<ge::Format> formats_, format_list_;
};

// Inputs or outputs, in their order.
class OpParams {
 public:
  OpParamDef& operator[](const char* name) {
    for (const auto& param : params_) {
      if (param->name_ == name) return *param;
    }
    params_.push_back(std::make_unique<OpParamDef>(name));
    return *params_.back();
  }
  // Those of a configuration replace those of the same name.
  static std::vector<const OpParamDef*> merged(const OpParams& base, const OpParams* own) {
    std::vector<const OpParamDef*> out;
    for (const auto& param : base.params_)
      out.push_back(param.get());
    if (own == nullptr) return out;
    for (const auto& param : own->params_) {
      const auto same = std::find_if(out.begin(), out.end(), [&](auto* p) { return p->name_ == param->name_; });
      if (same != out.end()) {
        *same = param.get();
      } else {
        out.push_back(param.get());
      }
    }
    return out;
  }

  // How many combinations the columns have, and those that lists add to them: the last list changes fastest.
  static std::size_t combinations(const std::vector<const OpParamDef*>& params) {
    std::size_t out = columns(params);
    for (const OpParamDef* param : params)
      out *= std::max<std::size_t>(1, param->type_list_.size()) * std::max<std::size_t>(1, param->format_list_.size());
    return out;
  }
  // The data type and the format of each in one combination.
  static std::vector<std::pair<int, int>> chosen(const std::vector<const OpParamDef*>& params,
                                                 std::size_t combination) {
    std::vector<std::pair<int, int>> chosen(params.size());
    std::size_t rest = combination;
    const auto pick = [&](const auto& list) {
      const std::size_t at = rest % list.size();
      rest /= list.size();
      return static_cast<int>(list[at]);
    };
    for (std::size_t i = params.size(); i-- > 0;) {
      if (!params[i]->format_list_.empty()) chosen[i].second = pick(params[i]->format_list_);
      if (!params[i]->type_list_.empty()) chosen[i].first = pick(params[i]->type_list_);
    }
    for (std::size_t i = 0; i < params.size(); ++i) {
      const OpParamDef& param = *params[i];
      if (param.type_list_.empty()) chosen[i].first = column(param.types_, rest, ge::DT_UNDEFINED);
      if (param.format_list_.empty()) chosen[i].second = column(param.formats_, rest, ge::FORMAT_ND);
    }
    for (std::size_t i = 0; i < params.size(); ++i) {
      for (std::size_t k = 0; k < params.size(); ++k) {
        if (!params[i]->follow_.empty() && params[k]->name_ == params[i]->follow_ && params[i]->types_.empty())
          chosen[i] = chosen[k];
      }
    }
    return chosen;
  }
  static void print(const std::vector<const OpParamDef*>& params, std::size_t inputs, std::size_t combination) {
    const auto of = chosen(params, combination);
    for (std::size_t i = 0; i < params.size(); ++i)
      std::printf("%s %s %d %d\n", i < inputs ? "input" : "output", params[i]->name_.c_str(), of[i].first,
                  of[i].second);
  }

 private:
  static std::size_t columns(const std::vector<const OpParamDef*>& params) {
    std::size_t out = 1;
    for (const OpParamDef* param : params)
      out = std::max({out, param->types_.size(), param->formats_.size()});
    return out;
  }
  template <class T>
  static int column(const std::vector<T>& values, std::size_t at, T none) {
    return values.empty() ? none : values[std::min(at, values.size() - 1)];
  }

  std::vector<std::unique_ptr<OpParamDef>> params_;
};

// What an attribute is, and its default as text: what `--attr` of `vinci op` takes.
enum class AttrKind { none, boolean, integer, real, text, booleans, integers, reals, lists };

class OpAttrDef {
 public:
  explicit OpAttrDef(const char* name) : name_(name) {}

  OpAttrDef& AttrType(Option option) {
    option_ = option;
    return *this;
  }
#define VINCI_OP_ATTRIBUTE(name, type, kind)       \
  OpAttrDef& name() { return as(AttrKind::kind); } \
  OpAttrDef& name(const type& value) { return as(AttrKind::kind, text(value)); }
  VINCI_OP_ATTRIBUTE(Bool, bool, boolean)
  VINCI_OP_ATTRIBUTE(Float, float, real)
  VINCI_OP_ATTRIBUTE(Int, std::int64_t, integer)
  VINCI_OP_ATTRIBUTE(String, std::string, text)
  // Lists may be written in braces.
  VINCI_OP_ATTRIBUTE(ListBool, std::vector<bool>, booleans)
  VINCI_OP_ATTRIBUTE(ListFloat, std::vector<float>, reals)
  VINCI_OP_ATTRIBUTE(ListInt, std::vector<std::int64_t>, integers)
  VINCI_OP_ATTRIBUTE(ListListInt, std::vector<std::vector<std::int64_t>>, lists)
#undef VINCI_OP_ATTRIBUTE
  VINCI_OP_IGNORED(OpAttrDef, Version)
  VINCI_OP_IGNORED(OpAttrDef, Comment)

  const std::string& VinciName() const { return name_; }
  AttrKind VinciKind() const { return kind_; }
  bool VinciRequired() const { return option_ == REQUIRED; }
  bool VinciHasDefault() const { return has_default_; }
  const std::string& VinciDefault() const { return default_; }
  // The value of an optional one that has no default.
  const char* VinciZero() const {
    const bool one = kind_ == AttrKind::boolean || kind_ == AttrKind::integer || kind_ == AttrKind::real;
    return one ? "0" : kind_ == AttrKind::text ? "" : "[]";
  }

 private:
  OpAttrDef& as(AttrKind kind) {
    kind_ = kind;
    return *this;
  }
  OpAttrDef& as(AttrKind kind, std::string value) {
    default_ = std::move(value);
    has_default_ = true;
    return as(kind);
  }
  static std::string text(bool value) { return value ? "true" : "false"; }
  static std::string text(std::int64_t value) { return std::to_string(value); }
  static std::string text(float value) {
    char out[32];
    std::snprintf(out, sizeof(out), "%.9g", static_cast<double>(value));
    return out;
  }
  static std::string text(const std::string& value) { return value; }
  template <class T>
  static std::string text(const std::vector<T>& values) {
    std::string out = "[";
    for (const auto& value : values)
      out += (out.size() > 1 ? "," : "") + text(value);
    return out + "]";
  }

  std::string name_, default_;
  Option option_ = REQUIRED;
  AttrKind kind_ = AttrKind::none;
  bool has_default_ = false;
};

class OpAICoreConfig {
 public:
  OpAICoreConfig() = default;
  explicit OpAICoreConfig(const char*) {}

  OpParamDef& Input(const char* name) { return (*inputs_)[name]; }
  OpParamDef& Output(const char* name) { return (*outputs_)[name]; }
  OpAICoreConfig& ExtendCfgInfo(const char* key, const char* value) {
    if (std::strcmp(key, "opFile.value") == 0) file_ = value;
    return *this;
  }
  VINCI_OP_IGNORED(OpAICoreConfig, DynamicCompileStaticFlag)
  VINCI_OP_IGNORED(OpAICoreConfig, DynamicFormatFlag)
  VINCI_OP_IGNORED(OpAICoreConfig, DynamicRankSupportFlag)
  VINCI_OP_IGNORED(OpAICoreConfig, DynamicShapeSupportFlag)
  VINCI_OP_IGNORED(OpAICoreConfig, NeedCheckSupportFlag)
  VINCI_OP_IGNORED(OpAICoreConfig, PrecisionReduceFlag)
  VINCI_OP_IGNORED(OpAICoreConfig, Comment)

 private:
  friend class OpDef;
  std::shared_ptr<OpParams> inputs_ = std::make_shared<OpParams>(), outputs_ = std::make_shared<OpParams>();
  std::string file_;
};

class OpAICoreDef {
 public:
  OpAICoreDef& AddConfig(const char* chip) { return AddConfig(chip, OpAICoreConfig()); }
  OpAICoreDef& AddConfig(const char* chip, const OpAICoreConfig& config) {
    configs_[chip] = config;
    return *this;
  }
  OpAICoreDef& SetTiling(std::uint32_t (*function)(gert::TilingContext*)) {
    tiling_ = function;
    return *this;
  }
  VINCI_OP_IGNORED(OpAICoreDef, SetTilingParse)
  VINCI_OP_IGNORED(OpAICoreDef, SetCheckSupport)
  VINCI_OP_IGNORED(OpAICoreDef, SetOpSelectFormat)
  VINCI_OP_IGNORED(OpAICoreDef, SetOpSupportInfo)
  VINCI_OP_IGNORED(OpAICoreDef, SetOpSpecInfo)
  VINCI_OP_IGNORED(OpAICoreDef, SetParamGeneralize)

 private:
  friend class OpDef;
  std::map<std::string, OpAICoreConfig> configs_;
  std::uint32_t (*tiling_)(gert::TilingContext*) = nullptr;
};

// A definition for other units than the AI Core; its kernels are not compiled here.
class OpAICPUDef {
 public:
  VINCI_OP_IGNORED(OpAICPUDef, OpKernelLib)
  VINCI_OP_IGNORED(OpAICPUDef, UserDefined)
  VINCI_OP_IGNORED(OpAICPUDef, ExtendCfgInfo)
};
class OpMC2Def {
 public:
  OpMC2Def& HcclGroup(const char*) { return *this; }
  OpMC2Def& HcclGroup(const std::vector<const char*>&) { return *this; }
  VINCI_OP_IGNORED(OpMC2Def, HcclServerType)
};

class OpDef {
 public:
  explicit OpDef(const char* name) : name_(name) {}
  virtual ~OpDef() = default;

  OpParamDef& Input(const char* name) { return inputs_[name]; }
  OpParamDef& Output(const char* name) { return outputs_[name]; }
  OpAttrDef& Attr(const char* name) {
    for (OpAttrDef& known : attributes_) {
      if (known.VinciName() == name) return known;
    }
    return attributes_.emplace_back(name);
  }
  OpAICoreDef& AICore() { return core_; }
  OpAICPUDef& AICPU() { return cpu_; }
  OpMC2Def& MC2() { return mc2_; }
  OpDef& SetInferShape(std::uint32_t (*function)(gert::InferShapeContext*)) {
    infer_shape_ = function;
    return *this;
  }
  VINCI_OP_IGNORED(OpDef, SetInferShapeRange)
  OpDef& SetInferDataType(std::uint32_t (*function)(gert::InferDataTypeContext*)) {
    infer_type_ = function;
    return *this;
  }
  VINCI_OP_IGNORED(OpDef, Comment)
  VINCI_OP_IGNORED(OpDef, FormatMatchMode)
  VINCI_OP_IGNORED(OpDef, EnableFallBack)

  const char* VinciName() const { return name_; }
  // False if the operator is not for the chip. Inputs come first.
  bool VinciParams(const std::string& chip, std::vector<const OpParamDef*>& params, std::size_t& inputs) const {
    const auto found = core_.configs_.find(chip);
    if (found == core_.configs_.end()) return false;
    params = OpParams::merged(inputs_, found->second.inputs_.get());
    inputs = params.size();
    const auto outputs = OpParams::merged(outputs_, found->second.outputs_.get());
    params.insert(params.end(), outputs.begin(), outputs.end());
    return true;
  }
  const std::string& VinciFile(const std::string& chip) const { return core_.configs_.at(chip).file_; }
  const std::deque<OpAttrDef>& VinciAttributes() const { return attributes_; }
  auto VinciTiling() const { return core_.tiling_; }
  auto VinciInferShape() const { return infer_shape_; }
  auto VinciInferDataType() const { return infer_type_; }

  // Prints "op NAME FILE COMBINATIONS" and the types of one combination. False if the operator is not for the chip.
  bool print(const char* chip, std::size_t combination) const {
    std::vector<const OpParamDef*> params;
    std::size_t inputs = 0;
    if (!VinciParams(chip, params, inputs)) return false;
    const std::string& file = core_.configs_.at(chip).file_;
    std::printf("op %s %s %zu\n", name_, file.empty() ? "-" : file.c_str(), OpParams::combinations(params));
    OpParams::print(params, inputs, combination);
    return true;
  }

 private:
  const char* name_;
  OpParams inputs_, outputs_;
  std::deque<OpAttrDef> attributes_;
  OpAICoreDef core_;
  OpAICPUDef cpu_;
  OpMC2Def mc2_;
  std::uint32_t (*infer_shape_)(gert::InferShapeContext*) = nullptr;
  std::uint32_t (*infer_type_)(gert::InferDataTypeContext*) = nullptr;
};
#undef VINCI_OP_IGNORED

// The registered definitions.
inline std::vector<std::unique_ptr<OpDef>>& VinciDefinitions() {
  static std::vector<std::unique_ptr<OpDef>> all;
  return all;
}

}  // namespace ops

#define OP_ADD(type, ...)                                                      \
  [[maybe_unused]] static const bool vinci_op_##type = [] {                    \
    ::ops::VinciDefinitions().push_back(std::make_unique<::ops::type>(#type)); \
    return true;                                                               \
  }();
