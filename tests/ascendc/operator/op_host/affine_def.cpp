// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// y = a * x + b, for three types of data on the Ascend 910B and for one on the 310P.
#include "register/op_def_registry.h"

namespace ops {
class AffineMap : public OpDef {
 public:
  explicit AffineMap(const char* name) : OpDef(name) {
    std::vector<ge::DataType> types{ge::DT_FLOAT, ge::DT_FLOAT16, ge::DT_INT32};
    std::vector<ge::Format> formats(types.size(), ge::FORMAT_ND);
    this->Input("x").ParamType(REQUIRED).DataType(types).Format(formats).UnknownShapeFormat(formats).AutoContiguous();
    this->Output("x").ParamType(REQUIRED).DataType(types).Format(formats);
    this->Output("y").ParamType(REQUIRED).DataType(types).Format(formats);
    this->Attr("slope").AttrType(OPTIONAL).Float(1.0);
    this->Attr("axes").AttrType(OPTIONAL).ListInt({0, 1});
    this->AICore().AddConfig("ascend910b");
    OpAICoreConfig small;
    small.DynamicShapeSupportFlag(true).ExtendCfgInfo("opFile.value", "affine_small");
    small.Input("x").DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
    small.Output("y").DataType({ge::DT_FLOAT16}).Format({ge::FORMAT_ND});
    this->AICore().AddConfig("ascend310p", small);
  }
};
OP_ADD(AffineMap);
}  // namespace ops
