// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// y = a * x + b, for three types of data on the Ascend 910B and for one on the 310P.
#include "exe_graph/runtime/infer_shape_context.h"  // of a package that is not there
#include "limits.h"
#include "register/op_def_registry.h"

static_assert(kSlots == 8);

namespace ops {
// What definitions ask of an operator.
static ge::graphStatus CheckSupport(const ge::Operator& op, ge::AscendString& result) {
  const ge::Shape shape = op.GetInputDesc(0).GetShape();
  result = ge::AscendString(shape.GetDimNum() > 8 || op.GetInputDesc("x").GetDataType() == ge::DT_INT8 ? "no" : "yes");
  int64_t axes = 0;
  return op.GetAttr("axes", axes);
}

class AffineMap : public OpDef {
 public:
  explicit AffineMap(const char* name) : OpDef(name) {
    std::vector<ge::DataType> types{ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_INT32};
    std::vector<ge::Format> formats(types.size(), ge::FORMAT_ND);
    this->Input("x").ParamType(REQUIRED).DataType(types).Format(formats).UnknownShapeFormat(formats).AutoContiguous();
    this->Output("x").ParamType(REQUIRED).DataType(types).Format(formats);
    this->Output("y").ParamType(REQUIRED).DataType(types).Format(formats).InitValue(
        {{ScalarType::FLOAT32, 0}, {ScalarType::FLOAT16, 0}, {ScalarType::INT32, 0}});
    this->Attr("slope").AttrType(OPTIONAL).Float(1.0);
    this->Attr("axes").AttrType(OPTIONAL).ListInt({0, 1});
    this->AICore().SetCheckSupport(CheckSupport).AddConfig("ascend910b");
    OpAICoreConfig small;
    small.DynamicShapeSupportFlag(true).ExtendCfgInfo("opFile.value", "affine_small");
    small.Input("x").DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
    small.Output("y").DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
    this->AICore().AddConfig("ascend310p", small);
  }
};
OP_ADD(AffineMap);

// The same, for another chip with the same cores; types come from lists, which are combined.
class AffineListed : public OpDef {
 public:
  explicit AffineListed(const char* name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataTypeList({ge::DT_FLOAT, ge::DT_INT32}).FormatList({ge::FORMAT_ND});
    this->Output("x").ParamType(REQUIRED).Follow("x").InitValue({ScalarType::FLOAT32, 0});
    this->Output("y").ParamType(REQUIRED).DataTypeList({ge::DT_INT32, ge::DT_FLOAT}).FormatList({ge::FORMAT_ND});
    this->AICore().AddConfig("ascend910_93");
  }
};
OP_ADD(AffineListed);
}  // namespace ops
