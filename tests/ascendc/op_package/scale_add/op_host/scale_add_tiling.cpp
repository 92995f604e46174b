// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "scale_add_tiling.h"

#include "host/divide.h"  // of the checkout's folder common, with a source next to it
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
int32_t FunctionForAnotherChip();

struct ScaleAddCompileInfo {
  uint32_t cores = 0;
};

static ge::graphStatus Parse(gert::TilingParseContext* context) {
  auto* info = context->GetCompiledInfo<ScaleAddCompileInfo>();
  info->cores = platform_ascendc::PlatformAscendC(context->GetPlatformInfo()).GetCoreNumAiv();
  return ge::GRAPH_SUCCESS;
}

static ge::graphStatus Tile(gert::TilingContext* context) {
  const auto* info = static_cast<const ScaleAddCompileInfo*>(context->GetCompileInfo());
  const gert::StorageShape* shape = context->GetInputShape(0);
  const auto type = context->GetInputDesc(0)->GetDataType();
  const int64_t size = shape->GetStorageShape().GetShapeSize();
  constexpr int64_t kUnit = 64;
  if (size % kUnit != 0) return ge::GRAPH_FAILED;
  if (info->cores == 0) return FunctionForAnotherChip();
  const int64_t units = size / kUnit;
  int64_t blocks = units < info->cores ? units : info->cores;
  while (units % blocks != 0)
    --blocks;
  ScaleAddTilingData data;
  data.SetDataPtr(context->GetRawTilingData()->GetData());
  data.set_length(static_cast<uint32_t>(example::Divide(size, blocks)));
  data.set_hasBias(context->GetOptionalInputShape(1) != nullptr);
  // Packages whose interface takes a double read it so.
  const double alpha = *context->GetAttrs()->GetAttrPointer<double>(0);
  if (static_cast<float>(alpha) != *context->GetAttrs()->GetFloat(0)) return ge::GRAPH_FAILED;
  data.set_alpha(static_cast<float>(alpha));
  const auto* limits = context->GetAttrs()->GetListInt(1);
  int64_t values[2] = {0, 0};
  for (size_t i = 0; i < limits->GetSize() && i < 2; ++i)
    values[i] = limits->GetData()[i];
  data.set_limits(values);
  context->GetRawTilingData()->SetDataSize(data.GetDataSize());
  context->SetTilingKey(type == ge::DT_FLOAT16 ? 2 : 1);
  context->SetBlockDim(static_cast<uint32_t>(blocks));
  context->GetWorkspaceSizes(1)[0] = 0;
  return ge::GRAPH_SUCCESS;
}
IMPL_OP_OPTILING(ScaleAdd).Tiling(Tile).TilingParse<ScaleAddCompileInfo>(Parse);
}  // namespace optiling
