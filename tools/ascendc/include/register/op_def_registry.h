// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ascendc/graph_operator.h"

// Definitions of operators: inputs and outputs with their data types, by chip. `vinci cc --op-host` compiles and runs
// one to learn the macros of its kernel. Documentation: Ascend C operator prototype registration.

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
  ScalarVar(ScalarType, T) {}
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
  VINCI_OP_IGNORED(OpParamDef, ValueDepend)
  VINCI_OP_IGNORED(OpParamDef, Scalar)
  VINCI_OP_IGNORED(OpParamDef, ScalarList)
  VINCI_OP_IGNORED(OpParamDef, To)
  VINCI_OP_IGNORED(OpParamDef, AutoContiguous)
  VINCI_OP_IGNORED(OpParamDef, IgnoreContiguous)
  VINCI_OP_IGNORED(OpParamDef, Version)
  OpParamDef& InitValue(std::uint64_t) { return *this; }
  OpParamDef& InitValue(const ScalarVar&) { return *this; }
  OpParamDef& InitValue(const std::vector<ScalarVar>&) { return *this; }
  VINCI_OP_IGNORED(OpParamDef, OutputShapeDependOnCompute)
  VINCI_OP_IGNORED(OpParamDef, Comment)

 private:
  friend class OpParams;
  std::string name_, follow_;
  Option option_ = IGNORE;
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
  static void print(const std::vector<const OpParamDef*>& params, std::size_t inputs, std::size_t combination) {
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
      std::printf("%s %s %d %d\n", i < inputs ? "input" : "output", params[i]->name_.c_str(), chosen[i].first,
                  chosen[i].second);
    }
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

class OpAttrDef {
 public:
  VINCI_OP_IGNORED(OpAttrDef, AttrType)
  VINCI_OP_IGNORED(OpAttrDef, Bool)
  VINCI_OP_IGNORED(OpAttrDef, Float)
  VINCI_OP_IGNORED(OpAttrDef, Int)
  VINCI_OP_IGNORED(OpAttrDef, String)
  VINCI_OP_IGNORED(OpAttrDef, Version)
  VINCI_OP_IGNORED(OpAttrDef, Comment)
  // Lists may be written in braces.
#define VINCI_OP_LIST(name, type)     \
  OpAttrDef& name() { return *this; } \
  OpAttrDef& name(const std::vector<type>&) { return *this; }
  VINCI_OP_LIST(ListBool, bool)
  VINCI_OP_LIST(ListFloat, float)
  VINCI_OP_LIST(ListInt, std::int64_t)
  VINCI_OP_LIST(ListListInt, std::vector<std::int64_t>)
#undef VINCI_OP_LIST
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
  VINCI_OP_IGNORED(OpAICoreDef, SetTiling)
  VINCI_OP_IGNORED(OpAICoreDef, SetTilingParse)
  VINCI_OP_IGNORED(OpAICoreDef, SetCheckSupport)
  VINCI_OP_IGNORED(OpAICoreDef, SetOpSelectFormat)
  VINCI_OP_IGNORED(OpAICoreDef, SetOpSupportInfo)
  VINCI_OP_IGNORED(OpAICoreDef, SetOpSpecInfo)
  VINCI_OP_IGNORED(OpAICoreDef, SetParamGeneralize)

 private:
  friend class OpDef;
  std::map<std::string, OpAICoreConfig> configs_;
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
  OpAttrDef& Attr(const char*) { return attributes_.emplace_back(); }
  OpAICoreDef& AICore() { return core_; }
  OpAICPUDef& AICPU() { return cpu_; }
  OpMC2Def& MC2() { return mc2_; }
  VINCI_OP_IGNORED(OpDef, SetInferShape)
  VINCI_OP_IGNORED(OpDef, SetInferShapeRange)
  VINCI_OP_IGNORED(OpDef, SetInferDataType)
  VINCI_OP_IGNORED(OpDef, Comment)
  VINCI_OP_IGNORED(OpDef, FormatMatchMode)
  VINCI_OP_IGNORED(OpDef, EnableFallBack)

  // Prints "op NAME FILE COMBINATIONS" and the types of one combination. False if the operator is not for the chip.
  bool print(const char* chip, std::size_t combination) const {
    const auto found = core_.configs_.find(chip);
    if (found == core_.configs_.end()) return false;
    const OpAICoreConfig& config = found->second;
    std::vector<const OpParamDef*> params = OpParams::merged(inputs_, config.inputs_.get());
    const std::size_t inputs = params.size();
    const auto outputs = OpParams::merged(outputs_, config.outputs_.get());
    params.insert(params.end(), outputs.begin(), outputs.end());
    std::printf("op %s %s %zu\n", name_, config.file_.empty() ? "-" : config.file_.c_str(),
                OpParams::combinations(params));
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
