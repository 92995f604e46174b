// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "aclnn/acl_meta.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tools/ascendc/runtime/acl_error.h"

struct aclTensor {
  std::vector<int64_t> dims, strides, storage_dims;
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  int64_t offset = 0;
  void* data = nullptr;
};

namespace {

using vinci::ascendc::acl_failed;

bool valid(const int64_t* dims, uint64_t count) {
  return (dims != nullptr || count == 0) && std::all_of(dims, dims + count, [](int64_t d) { return d >= 0; });
}

std::vector<int64_t> contiguous(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t step = 1;
  for (auto i = dims.size(); i-- > 0;) {
    strides[i] = step;
    step *= dims[i];
  }
  return strides;
}

// `get` reads one member of a tensor into `out`.
template <class T, class F>
int32_t read(const aclTensor* tensor, T* out, F&& get) {
  if (tensor == nullptr || out == nullptr) return acl_failed(ACL_ERROR_INVALID_PARAM, "a tensor or a result is null");
  *out = get(*tensor);
  return ACL_SUCCESS;
}

int32_t copy(const aclTensor* tensor, std::vector<int64_t> aclTensor::*member, int64_t** out, uint64_t* count) {
  if (tensor == nullptr || out == nullptr || count == nullptr)
    return acl_failed(ACL_ERROR_INVALID_PARAM, "a tensor or a result is null");
  const std::vector<int64_t>& values = tensor->*member;
  *count = values.size();
  *out = new int64_t[values.size()];
  std::copy(values.begin(), values.end(), *out);
  return ACL_SUCCESS;
}

}  // namespace

extern "C" {

size_t aclDataTypeSize(aclDataType type) {
  switch (type) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0: return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16: return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32: return 4;
    case ACL_DOUBLE:
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_COMPLEX64: return 8;
    case ACL_COMPLEX128: return 16;
    default: return 0;
  }
}

aclTensor* aclCreateTensor(const int64_t* dims, uint64_t dims_count, aclDataType type, const int64_t* strides,
                           int64_t offset, aclFormat format, const int64_t* storage_dims, uint64_t storage_dims_count,
                           void* data) {
  if (!valid(dims, dims_count) || !valid(storage_dims, storage_dims_count)) {
    acl_failed(ACL_ERROR_INVALID_PARAM, "the dimensions of a tensor are missing or negative");
    return nullptr;
  }
  auto* tensor = new aclTensor{
      {dims, dims + dims_count}, {}, {storage_dims, storage_dims + storage_dims_count}, type, format, offset, data};
  tensor->strides = strides != nullptr ? std::vector(strides, strides + dims_count) : contiguous(tensor->dims);
  return tensor;
}
int32_t aclDestroyTensor(const aclTensor* tensor) {
  delete tensor;
  return ACL_SUCCESS;
}

int32_t aclGetViewShape(const aclTensor* tensor, int64_t** dims, uint64_t* count) {
  return copy(tensor, &aclTensor::dims, dims, count);
}
int32_t aclGetViewStrides(const aclTensor* tensor, int64_t** strides, uint64_t* count) {
  return copy(tensor, &aclTensor::strides, strides, count);
}
int32_t aclGetStorageShape(const aclTensor* tensor, int64_t** dims, uint64_t* count) {
  return copy(tensor, &aclTensor::storage_dims, dims, count);
}
int32_t aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  return read(tensor, offset, [](const aclTensor& t) { return t.offset; });
}
int32_t aclGetDataType(const aclTensor* tensor, aclDataType* type) {
  return read(tensor, type, [](const aclTensor& t) { return t.type; });
}
int32_t aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  return read(tensor, format, [](const aclTensor& t) { return t.format; });
}
int32_t aclGetRawTensorAddr(const aclTensor* tensor, void** data) {
  return read(tensor, data, [](const aclTensor& t) { return t.data; });
}
int32_t aclSetRawTensorAddr(aclTensor* tensor, void* data) {
  if (tensor == nullptr) return acl_failed(ACL_ERROR_INVALID_PARAM, "the tensor is null");
  tensor->data = data;
  return ACL_SUCCESS;
}

}  // extern "C"
