// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "ascendc/graph_operator.h"

// Sizes and names of data types and formats. Documentation: operator host API, TypeUtils.
namespace ge {

struct VinciType {
  DataType type;
  const char* name;
  int bits;
};
// Types whose names or sizes operators ask for.
constexpr VinciType kVinciTypes[] = {{DT_FLOAT, "DT_FLOAT", 32},
                                     {DT_FLOAT16, "DT_FLOAT16", 16},
                                     {DT_INT8, "DT_INT8", 8},
                                     {DT_INT32, "DT_INT32", 32},
                                     {DT_UINT8, "DT_UINT8", 8},
                                     {DT_INT16, "DT_INT16", 16},
                                     {DT_UINT16, "DT_UINT16", 16},
                                     {DT_UINT32, "DT_UINT32", 32},
                                     {DT_INT64, "DT_INT64", 64},
                                     {DT_UINT64, "DT_UINT64", 64},
                                     {DT_DOUBLE, "DT_DOUBLE", 64},
                                     {DT_BOOL, "DT_BOOL", 8},
                                     {DT_STRING, "DT_STRING", 128},
                                     {DT_COMPLEX32, "DT_COMPLEX32", 32},
                                     {DT_COMPLEX64, "DT_COMPLEX64", 64},
                                     {DT_COMPLEX128, "DT_COMPLEX128", 128},
                                     {DT_QINT8, "DT_QINT8", 8},
                                     {DT_QINT16, "DT_QINT16", 16},
                                     {DT_QINT32, "DT_QINT32", 32},
                                     {DT_QUINT8, "DT_QUINT8", 8},
                                     {DT_QUINT16, "DT_QUINT16", 16},
                                     {DT_BF16, "DT_BF16", 16},
                                     {DT_INT4, "DT_INT4", 4},
                                     {DT_UINT1, "DT_UINT1", 1},
                                     {DT_INT2, "DT_INT2", 2},
                                     {DT_UINT2, "DT_UINT2", 2},
                                     {DT_HIFLOAT8, "DT_HIFLOAT8", 8},
                                     {DT_FLOAT8_E5M2, "DT_FLOAT8_E5M2", 8},
                                     {DT_FLOAT8_E4M3FN, "DT_FLOAT8_E4M3FN", 8},
                                     {DT_FLOAT8_E8M0, "DT_FLOAT8_E8M0", 8},
                                     {DT_FLOAT4_E2M1, "DT_FLOAT4_E2M1", 4},
                                     {DT_FLOAT4_E1M2, "DT_FLOAT4_E1M2", 4}};

inline const VinciType* VinciFind(DataType type) {
  for (const VinciType& t : kVinciTypes)
    if (t.type == type) return &t;
  return nullptr;
}

// Of types of less than a byte: this number and the bits of an element; -1 for an unknown type.
constexpr int kDataTypeSizeBitOffset = 1000;
inline int GetSizeByDataType(DataType type) {
  const VinciType* const t = VinciFind(type);
  if (t == nullptr) return -1;
  return t->bits < 8 ? kDataTypeSizeBitOffset + t->bits : t->bits / 8;
}
// Bytes of so many elements, rounded up; -1 for an unknown type.
inline std::int64_t GetSizeInBytes(std::int64_t count, DataType type) {
  const VinciType* const t = VinciFind(type);
  return t == nullptr || count < 0 ? -1 : (count * t->bits + 7) / 8;
}
// Formats carry a sub-format and C0 in their upper bits.
inline Format GetPrimaryFormat(std::int32_t format) { return static_cast<Format>(format & 0xff); }
inline std::int32_t GetSubFormat(std::int32_t format) { return (format >> 8) & 0xffff; }
inline bool HasSubFormat(std::int32_t format) { return GetSubFormat(format) > 0; }
inline std::int32_t GetFormatFromSub(std::int32_t primary, std::int32_t sub) { return primary | (sub << 8); }

inline const char* GetFormatName(Format format) {
  switch (GetPrimaryFormat(format)) {
    case FORMAT_NCHW: return "NCHW";
    case FORMAT_NHWC: return "NHWC";
    case FORMAT_ND: return "ND";
    case FORMAT_NC1HWC0: return "NC1HWC0";
    case FORMAT_FRACTAL_Z: return "FRACTAL_Z";
    case FORMAT_HWCN: return "HWCN";
    case FORMAT_NDHWC: return "NDHWC";
    case FORMAT_FRACTAL_NZ: return "FRACTAL_NZ";
    case FORMAT_NCDHW: return "NCDHW";
    case FORMAT_NDC1HWC0: return "NDC1HWC0";
    case FORMAT_FRACTAL_Z_3D: return "FRACTAL_Z_3D";
    case FORMAT_NCL: return "NCL";
    default: return "RESERVED";
  }
}

class TypeUtils {
 public:
  static bool IsDataTypeValid(DataType type) { return VinciFind(type) != nullptr; }
  static std::string DataTypeToSerialString(DataType type) {
    const VinciType* const t = VinciFind(type);
    return t == nullptr ? "UNDEFINED" : t->name;
  }
  static AscendString DataTypeToAscendString(const DataType& type) { return DataTypeToSerialString(type).c_str(); }
  static std::string FormatToSerialString(Format format) { return GetFormatName(format); }
  static AscendString FormatToAscendString(const Format& format) { return GetFormatName(format); }
  static bool GetDataTypeLength(DataType type, std::uint32_t& bytes) {
    const VinciType* const t = VinciFind(type);
    if (t == nullptr || t->bits < 8) return false;
    bytes = static_cast<std::uint32_t>(t->bits / 8);
    return true;
  }
};

}  // namespace ge
