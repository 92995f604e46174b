// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "acl/acl_base.h"

// The runtime for host programs: memory, copies, streams and events of one simulated device. Calls take effect at once
// and are recorded; what they cost is found at the end of the process (docs/ascendc.md). Documentation: AscendCL.

typedef enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST,
  ACL_MEM_MALLOC_HUGE_ONLY,
  ACL_MEM_MALLOC_NORMAL_ONLY,
  ACL_MEM_MALLOC_HUGE_FIRST_P2P,
  ACL_MEM_MALLOC_HUGE_ONLY_P2P,
  ACL_MEM_MALLOC_NORMAL_ONLY_P2P,
  ACL_MEM_TYPE_LOW_BAND_WIDTH = 0x0100,
  ACL_MEM_TYPE_HIGH_BAND_WIDTH = 0x1000,
} aclrtMemMallocPolicy;

typedef enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST,
  ACL_MEMCPY_HOST_TO_DEVICE,
  ACL_MEMCPY_DEVICE_TO_HOST,
  ACL_MEMCPY_DEVICE_TO_DEVICE,
  ACL_MEMCPY_DEFAULT,
} aclrtMemcpyKind;

typedef enum aclrtMemAttr {
  ACL_DDR_MEM,
  ACL_HBM_MEM,
  ACL_DDR_MEM_HUGE,
  ACL_DDR_MEM_NORMAL,
  ACL_HBM_MEM_HUGE,
  ACL_HBM_MEM_NORMAL,
} aclrtMemAttr;

typedef enum aclrtRunMode { ACL_DEVICE, ACL_HOST } aclrtRunMode;

typedef enum aclrtEventRecordedStatus {
  ACL_EVENT_RECORDED_STATUS_NOT_READY,
  ACL_EVENT_RECORDED_STATUS_COMPLETE,
} aclrtEventRecordedStatus;

typedef enum aclrtDevAttr {
  ACL_DEV_ATTR_AICPU_CORE_NUM = 1,
  ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
  ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
  ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
} aclrtDevAttr;

#define ACL_EVENT_SYNC 0x00000001u
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x00000002u
#define ACL_EVENT_TIME_LINE 0x00000008u
#define ACL_STREAM_FAST_LAUNCH 0x00000001u
#define ACL_STREAM_FAST_SYNC 0x00000002u
#define ACL_STREAM_PERSISTENT 0x00000004u
#define ACL_STREAM_HUGE 0x00000008u
#define ACL_STREAM_CPU_SCHEDULE 0x00000010u
#define ACL_STREAM_DEVICE_USE_ONLY 0x00000020u

typedef enum aclrtStreamAttr {
  ACL_STREAM_ATTR_FAILURE_MODE = 1,
  ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK = 2,
  ACL_STREAM_ATTR_USER_CUSTOM_TAG = 3,
  ACL_STREAM_ATTR_CACHE_OP_INFO = 4,
} aclrtStreamAttr;

typedef union aclrtStreamAttrValue {
  uint64_t failureMode;
  uint32_t overflowSwitch;
  uint32_t userCustomTag;
  uint32_t cacheOpInfoSwitch;
  uint32_t reserve[4];
} aclrtStreamAttrValue;

typedef enum aclrtStreamStatus {
  ACL_STREAM_STATUS_COMPLETE = 0,
  ACL_STREAM_STATUS_NOT_READY = 1,
  ACL_STREAM_STATUS_RESERVED = 0xFFFF,
} aclrtStreamStatus;

typedef enum aclrtCmoType {
  ACL_RT_CMO_TYPE_PREFETCH,
  ACL_RT_CMO_TYPE_WRITEBACK,
  ACL_RT_CMO_TYPE_INVALID,
  ACL_RT_CMO_TYPE_FLUSH,
} aclrtCmoType;

// Kernels that a program takes from a binary by their names.
typedef void* aclrtBinHandle;
typedef void* aclrtFuncHandle;
typedef void* aclrtArgsHandle;
typedef void* aclrtParamHandle;
typedef struct aclrtBinaryLoadOptions aclrtBinaryLoadOptions;
typedef struct aclrtLaunchKernelCfg aclrtLaunchKernelCfg;

typedef enum aclrtLastErrLevel { ACL_RT_THREAD_LEVEL = 0 } aclrtLastErrLevel;

#ifdef __cplusplus
extern "C" {
#endif

// The code of the latest call that failed on this thread, or ACL_SUCCESS; the first forgets it.
aclError aclrtGetLastError(aclrtLastErrLevel level);
aclError aclrtPeekAtLastError(aclrtLastErrLevel level);

aclError aclrtSetDevice(int32_t device);
aclError aclrtResetDevice(int32_t device);
aclError aclrtResetDeviceForce(int32_t device);
aclError aclrtGetDevice(int32_t* device);
aclError aclrtGetDeviceCount(uint32_t* count);
aclError aclrtGetDeviceInfo(uint32_t device, aclrtDevAttr attribute, int64_t* value);
// What kernels pass to set_ffts_base_addr.
aclError aclrtGetHardwareSyncAddr(void** addr);
aclError aclrtGetRunMode(aclrtRunMode* mode);
// Such as "Ascend910B1"; of a chip file whose name does not begin with "ascend-", that name.
const char* aclrtGetSocName();
aclError aclrtSynchronizeDevice();
// A simulated device does not make the host wait: the milliseconds have no effect.
inline aclError aclrtSynchronizeDeviceWithTimeout(int32_t /*timeout*/) { return aclrtSynchronizeDevice(); }
// The version of a package of CANN: there is none here.
inline aclError aclsysGetVersionNum(char* /*pkgName*/, int32_t* /*versionNum*/) {
  return ACL_ERROR_FEATURE_UNSUPPORTED;
}

aclError aclrtCreateContext(aclrtContext* context, int32_t device);
aclError aclrtDestroyContext(aclrtContext context);
aclError aclrtSetCurrentContext(aclrtContext context);
aclError aclrtGetCurrentContext(aclrtContext* context);

aclError aclrtCreateStream(aclrtStream* stream);
aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtDestroyStreamForce(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

// The number of a stream, unique in the program; the default stream for null.
aclError aclrtStreamGetId(aclrtStream stream, int32_t* id);
// A stream keeps the value and has no other use for it: the first fault of a kernel ends the program.
aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr attribute, aclrtStreamAttrValue* value);
aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr attribute, aclrtStreamAttrValue* value);
aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status);

// A kernel has the code that the program, or a shared library that it has loaded, has of that name: `vinci cc` compiled
// it, and it has the name of C. A file that is no ELF file is refused; options and configurations have no effect.
aclError aclrtBinaryLoadFromFile(const char* path, aclrtBinaryLoadOptions* options, aclrtBinHandle* binary);
aclError aclrtBinaryUnLoad(aclrtBinHandle binary);
aclError aclrtBinaryGetFunction(const aclrtBinHandle binary, const char* kernel, aclrtFuncHandle* function);
// The arguments of a launch, one after the other; their bytes are copied. A launch with a number of arguments or a size
// other than those of the kernel is refused.
aclError aclrtKernelArgsInit(aclrtFuncHandle function, aclrtArgsHandle* arguments);
aclError aclrtKernelArgsAppend(aclrtArgsHandle arguments, void* value, size_t size, aclrtParamHandle* parameter);
aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle arguments, aclrtParamHandle parameter, void* value, size_t size);
aclError aclrtKernelArgsFinalize(aclrtArgsHandle arguments);
aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream,
                                     aclrtLaunchKernelCfg* config, aclrtArgsHandle arguments, void* reserve);

aclError aclrtMalloc(void** address, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtMallocAlign32(void** address, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtMallocCached(void** address, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtFree(void* address);
aclError aclrtMallocHost(void** address, size_t size);
aclError aclrtFreeHost(void* address);
aclError aclrtGetMemInfo(aclrtMemAttr attribute, size_t* free, size_t* total);
aclError aclrtMemcpy(void* dst, size_t capacity, const void* src, size_t size, aclrtMemcpyKind kind);
aclError aclrtMemcpyAsync(void* dst, size_t capacity, const void* src, size_t size, aclrtMemcpyKind kind,
                          aclrtStream stream);
// `height` rows of `width` bytes, from rows `spitch` bytes apart to rows `dpitch` bytes apart, as one copy. Rows longer
// than a pitch are refused.
aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind);
aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                            aclrtMemcpyKind kind, aclrtStream stream);
aclError aclrtMemset(void* address, size_t capacity, int32_t value, size_t size);
aclError aclrtMemsetAsync(void* address, size_t capacity, int32_t value, size_t size, aclrtStream stream);

// Checks its operands: the model of L2 has no operation that moves lines by request, so times do not change. Kernels
// see the same data with and without it.
aclError aclrtCmoAsync(void* address, size_t size, aclrtCmoType type, aclrtStream stream);

aclError aclrtCreateEvent(aclrtEvent* event);
aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag);
aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag);
aclError aclrtDestroyEvent(aclrtEvent event);
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);
aclError aclrtSynchronizeEvent(aclrtEvent event);
inline aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t /*timeout*/) {
  return aclrtSynchronizeEvent(event);
}
// From the latest record of one to that of the other. Simulates all that the program has done so far.
aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent start, aclrtEvent end);
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);

#ifdef __cplusplus
}
#endif
