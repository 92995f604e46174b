// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/import/model.h"

namespace vinci::graph {

std::optional<DataType> onnx_data_type(i64 number) {
  switch (number) {  // onnx.proto, TensorProto.DataType
    case 1: return DataType::f32;
    case 2: return DataType::u8;
    case 3: return DataType::i8;
    case 4: return DataType::u16;
    case 5: return DataType::i16;
    case 6: return DataType::i32;
    case 7: return DataType::i64;
    case 9: return DataType::boolean;
    case 10: return DataType::f16;
    case 11: return DataType::f64;
    case 12: return DataType::u32;
    case 13: return DataType::u64;
    case 16: return DataType::bf16;
    default: return std::nullopt;
  }
}

}  // namespace vinci::graph
