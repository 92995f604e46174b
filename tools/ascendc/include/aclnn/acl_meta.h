// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "acl/acl_base.h"

// Descriptions of tensors for host programs. Names and parameters are those of the published documentation of the
// single-operator interface (aclnn). There are no operators that take them.
typedef struct aclTensor aclTensor;
typedef struct aclOpExecutor aclOpExecutor;
typedef int32_t aclnnStatus;

#ifdef __cplusplus
extern "C" {
#endif

// Describes a tensor at `data`: `dims_count` dimensions and steps (in elements) of the view, which begins `offset`
// elements after `data`, and the dimensions of what is stored. Contiguous where `strides` is null. Null where an array
// is missing or a dimension is negative; aclGetRecentErrMsg says why.
aclTensor* aclCreateTensor(const int64_t* dims, uint64_t dims_count, aclDataType type, const int64_t* strides,
                           int64_t offset, aclFormat format, const int64_t* storage_dims, uint64_t storage_dims_count,
                           void* data);
int32_t aclDestroyTensor(const aclTensor* tensor);

// Arrays that the caller releases with delete[].
int32_t aclGetViewShape(const aclTensor* tensor, int64_t** dims, uint64_t* count);
int32_t aclGetViewStrides(const aclTensor* tensor, int64_t** strides, uint64_t* count);
int32_t aclGetStorageShape(const aclTensor* tensor, int64_t** dims, uint64_t* count);
int32_t aclGetViewOffset(const aclTensor* tensor, int64_t* offset);
int32_t aclGetDataType(const aclTensor* tensor, aclDataType* type);
int32_t aclGetFormat(const aclTensor* tensor, aclFormat* format);
int32_t aclGetRawTensorAddr(const aclTensor* tensor, void** data);
int32_t aclSetRawTensorAddr(aclTensor* tensor, void* data);

#ifdef __cplusplus
}
#endif
