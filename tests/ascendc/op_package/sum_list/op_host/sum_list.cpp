// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "../op_kernel/sum_list_tiling_data.h"
#include "../op_kernel/sum_list_tiling_key.h"
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"

namespace optiling {
static ge::graphStatus Tile(gert::TilingContext* context) {
  const auto* input = context->GetIrInputInstanceInfo(0);
  const int64_t size = context->GetDynamicInputShape(0, 0)->GetStorageShape().GetShapeSize();
  for (size_t i = 1; i < input->GetInstanceNum(); ++i) {
    if (context->GetDynamicInputShape(0, i)->GetStorageShape().GetShapeSize() != size) return ge::GRAPH_FAILED;
  }
  const gert::Tensor* times = context->GetOptionalInputTensor(1);
  if (times == nullptr || times->GetData<int64_t>() == nullptr || size % 64 != 0) return ge::GRAPH_FAILED;
  auto* data = context->GetTilingData<SumListTilingData>();
  data->length = 64;
  data->times = static_cast<int32_t>(times->GetData<int64_t>()[0]);
  context->SetBlockDim(static_cast<uint32_t>(size / 64));
  const bool square = *context->GetAttrs()->GetBool(0);
  ASCENDC_TPL_SEL_PARAM(context, square, static_cast<uint32_t>(context->GetInputDesc(0)->GetDataType()));
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ops {
// y = times * sum of x, or of its squares
class SumList : public OpDef {
 public:
  explicit SumList(const char* name) : OpDef(name) {
    this->Input("x").ParamType(DYNAMIC).DataType({ge::DT_FLOAT, ge::DT_FLOAT16}).Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Input("times")
        .ParamType(REQUIRED)
        .ValueDepend(REQUIRED)
        .DataType({ge::DT_INT64, ge::DT_INT64})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND});
    this->Output("y")
        .ParamType(REQUIRED)
        .DataType({ge::DT_FLOAT, ge::DT_FLOAT16})
        .Format({ge::FORMAT_ND, ge::FORMAT_ND})
        .InitValue(0);
    this->Attr("square").AttrType(REQUIRED).Bool();
    this->AICore().SetTiling(optiling::Tile).AddConfig("ascend910b");
  }
};
OP_ADD(SumList);
}  // namespace ops
