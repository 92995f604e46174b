// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
static ge::graphStatus Tile(gert::TilingContext* context) {
  const platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
  context->SetBlockDim(platform.GetCoreNum());
  context->GetRawTilingData()->SetDataSize(0);
  *context->GetWorkspaceSizes(1) = platform.GetLibApiWorkSpaceSize();
  return ge::GRAPH_SUCCESS;
}
}  // namespace optiling

namespace ops {
// y = the number of blocks, one for each AI Core
class CountCores : public OpDef {
 public:
  explicit CountCores(const char* name) : OpDef(name) {
    this->Input("x").ParamType(REQUIRED).DataType({ge::DT_INT32}).Format({ge::FORMAT_ND});
    this->Output("y").ParamType(REQUIRED).DataType({ge::DT_INT32}).Format({ge::FORMAT_ND});
    this->AICore().SetTiling(optiling::Tile).AddConfig("ascend910b");
  }
};
OP_ADD(CountCores);
}  // namespace ops
