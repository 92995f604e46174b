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
// How many AICs the chip has.
rtError_t rtGetAiCoreCount(uint32_t* count);

#ifdef __cplusplus
}
#endif
