// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <stdint.h>

// Of the runtime below AscendCL, what programs ask for kernels of several cores. Names as programs that are public use
// them.
typedef int32_t rtError_t;
static const rtError_t RT_ERROR_NONE = 0;

#ifdef __cplusplus
extern "C" {
#endif

// The base address of the flags between cores, which kernels give to set_ffts_base_addr, and the bytes there.
rtError_t rtGetC2cCtrlAddr(uint64_t* address, uint32_t* bytes);
// The kernels of a device binary, the ELF file in the section `__aicore_rel_binary` of an object of `vinci cc`, or one
// that is made from it. Their code is not in the file: each kernel is looked up by its name in the program and its
// libraries. The handle is good to the end of the program. `length` of a binary in bytes.
typedef struct rtDevBinary {
  uint32_t magic;
  uint32_t version;
  const void* data;
  uint64_t length;
} rtDevBinary_t;
#define RT_DEV_BINARY_MAGIC_ELF 0x43554245u
#define RT_DEV_BINARY_MAGIC_ELF_AIVEC 0x41415246u
#define RT_DEV_BINARY_MAGIC_ELF_AICUBE 0x41494343u
typedef struct rtArgsEx {
  void* args;  // of a kernel, one behind the other, each aligned to its size
  void* hostInputInfoPtr;
  uint32_t argsSize;
  uint32_t tilingAddrOffset;
  uint32_t tilingDataOffset;
  uint16_t hostInputInfoNum;
  uint8_t hasTiling;
  uint8_t isNoNeedH2DCopy;
  uint8_t reserved[4];
} rtArgsEx_t;
typedef struct rtTaskCfgInfo {
  uint8_t qos, partId, schemMode, res[1];
  uint32_t blockDimOffset;
  uint8_t dumpflag, neverTimeout, rev[2];
  uint32_t localMemorySize;
} rtTaskCfgInfo_t;
rtError_t rtRegisterAllKernel(const rtDevBinary_t* binary, void** handle);
rtError_t rtBinaryLoadWithoutTilingKey(const void* data, uint64_t length, void** handle);
// Launches the kernel whose name ends in `_KEY`, or in `_KEY_mix_aic` and `_KEY_mix_aiv`: one function for each kind of
// cores, of which a record of `.ascend.meta` says how many of each there are (1:2 if there is none). The last two are
// not used.
rtError_t rtKernelLaunchWithHandleV2(void* handle, uint64_t key, uint32_t blocks, rtArgsEx_t* arguments, void* sm,
                                     void* stream, const rtTaskCfgInfo_t* config);
// How many AICs the chip has.
rtError_t rtGetAiCoreCount(uint32_t* count);

#ifdef __cplusplus
}
#endif
