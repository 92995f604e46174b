// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Types of the runtime's C interface. Names and values are those of the published documentation of AscendCL.
typedef int aclError;
typedef void* aclrtStream;
typedef void* aclrtEvent;
typedef void* aclrtContext;
typedef uint16_t aclFloat16;

static const int ACL_SUCCESS = 0;
static const int ACL_ERROR_NONE = 0;
static const int ACL_ERROR_INVALID_PARAM = 100000;
static const int ACL_ERROR_FEATURE_UNSUPPORTED = 200006;
static const int ACL_ERROR_RT_PARAM_INVALID = 107000;
static const int ACL_ERROR_RT_INVALID_DEVICEID = 107001;
static const int ACL_ERROR_RT_MEMORY_ALLOCATION = 207001;
static const int ACL_ERROR_RT_FEATURE_NOT_SUPPORT = 207000;

// The number of the bits of an IEEE binary16, and the other way, to the nearest, ties to even.
static inline float aclFloat16ToFloat(aclFloat16 value) {
  _Float16 number;
  memcpy(&number, &value, sizeof(number));
  return (float)number;
}
static inline aclFloat16 aclFloatToFloat16(float value) {
  const _Float16 number = (_Float16)value;
  aclFloat16 bits;
  memcpy(&bits, &number, sizeof(bits));
  return bits;
}
