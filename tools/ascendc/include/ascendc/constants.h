// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "ascendc/language.h"

// Constants of the architecture and of the API's units that kernels compute with. Names and values are those of the
// published headers of Ascend C. Sizes of memories are those of the architecture; the chip file may have others, which
// GetUBSizeInBytes and the host's platform information give.
namespace AscendC {

// Scales of the formats of later chips: bytes here.
using fp8_e8m0_t = uint8_t;

// The forms of the mask of DropOut.
constexpr uint32_t DROPOUT_MODE_BYTE_MISALIGN = 1;
constexpr uint32_t DROPOUT_MODE_BYTE_ALIGN = 2;
constexpr uint32_t DROPOUT_MODE_BIT_ALIGN = 3;
constexpr uint32_t DROPOUT_MODE_BIT_MISALIGN = 4;

constexpr int32_t HALF_FACTOR = 2;
#ifdef VINCI_HOST_CODE
constexpr uint32_t BLOCK_CUBE = 16;  // as tiling_api.h has it for the host
#else
constexpr int32_t BLOCK_CUBE = 16;
#endif
constexpr int32_t CUBE_MAX_SIZE = 256;
constexpr int32_t BYTE_PER_FRACTAL = 512;
constexpr int32_t DEFAULT_C0_SIZE = 32;
constexpr int32_t DEFAULT_BLK_NUM = 8;
constexpr int32_t DEFAULT_BLOCK_SIZE = 256;
constexpr uint8_t HALF_DEFAULT_REPEAT_STRIDE = 4;
constexpr uint8_t ONE_FOURTH_DEFAULT_REPEAT_STRIDE = 2;
constexpr int32_t DEFAULT_REDUCE_DST_REP_STRIDE = 1;
constexpr uint8_t DEFAULT_DATA_COPY_NBURST = 1;
constexpr uint8_t DEFAULT_DATA_COPY_STRIDE = 0;
constexpr int32_t MAX_REPEAT_TIMES = 255;
constexpr int32_t MIN_REPEAT_TIMES = 0;
constexpr int32_t K_MAX_DIM = 8;

constexpr int32_t ONE_BYTE_BIT_SIZE = 8;
constexpr uint8_t B64_BYTE_SIZE = 8;
constexpr uint8_t B32_BYTE_SIZE = 4;
constexpr uint8_t B16_BYTE_SIZE = 2;
constexpr uint8_t B8_BYTE_SIZE = 1;
constexpr uint8_t B32_DATA_NUM_PER_BLOCK = 8;
constexpr uint8_t B16_DATA_NUM_PER_BLOCK = 16;
constexpr int32_t B32_DATA_NUM_PER_REPEAT = 64;
constexpr int32_t B16_DATA_NUM_PER_REPEAT = 128;
constexpr uint32_t ONE_BLK_HALF_NUM = 16;
constexpr uint32_t ONE_BLK_FLOAT_NUM = 8;
constexpr uint32_t HALF_REPEAT_SIZE = 128;
constexpr uint32_t FLOAT_REPEAT_SIZE = 64;
constexpr uint32_t ONE_REPEAT_HALF_SIZE = 128;
constexpr uint32_t ONE_REPEAT_FLOAT_SIZE = 64;
constexpr uint32_t MAX_REPEAT_HALF_SIZE = ONE_REPEAT_HALF_SIZE * MAX_REPEAT_TIMES;
constexpr uint32_t MAX_REPEAT_FLOAT_SIZE = ONE_REPEAT_FLOAT_SIZE * MAX_REPEAT_TIMES;
constexpr uint32_t BRCB_BROADCAST_NUMBER = 8;
constexpr uint32_t BRCB_MAX_REPEAT_SIZE = BRCB_BROADCAST_NUMBER * MAX_REPEAT_TIMES;

constexpr uint64_t FULL_MASK = ~uint64_t{0};
constexpr int32_t FULL_MASK_LEN = 128;
constexpr int32_t HALF_MASK_LEN = 64;
constexpr uint16_t MAX_HALF_MASK_LEN = 64;

constexpr uint32_t F32_INF = 0x7f800000;
constexpr uint32_t F32_NEG_INF = 0xff800000;
constexpr uint32_t F32_NAN = 0x7fc00000;

constexpr uint32_t CACHE_LINE_SIZE = 64;
constexpr uint32_t TMP_UB_SIZE = 8 * 1024;
constexpr uint32_t TOTAL_L0A_SIZE = 64 * 1024;
constexpr uint32_t TOTAL_L0B_SIZE = 64 * 1024;
#if __NPU_ARCH__ == 2201
constexpr uint32_t TOTAL_L0C_SIZE = 128 * 1024;
constexpr uint32_t TOTAL_UB_SIZE = 192 * 1024;
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = 184 * 1024;
constexpr uint32_t TMP_UB_OFFSET = 184 * 1024;
constexpr uint32_t TOTAL_L1_SIZE = 512 * 1024 - 128;  // the end is for messages between cores
#else
constexpr uint32_t TOTAL_L0C_SIZE = 256 * 1024;
constexpr uint32_t TOTAL_UB_SIZE = 256 * 1024;
constexpr int32_t TOTAL_VEC_LOCAL_SIZE = 248 * 1024;
constexpr uint32_t TMP_UB_OFFSET = 248 * 1024;
constexpr uint32_t TOTAL_L1_SIZE = 1024 * 1024;
#endif

}  // namespace AscendC

#if __NPU_ARCH__ == 2201
constexpr uint64_t ASC_UB_SIZE = 192 * 1024 - 256;
constexpr uint64_t ASC_L1_SIZE = 512 * 1024 - 256;
constexpr uint64_t ASC_L0C_SIZE = 128 * 1024;
constexpr uint64_t ASC_BT_SIZE = 1024;
#else
constexpr uint64_t ASC_UB_SIZE = 256 * 1024;
constexpr uint64_t ASC_L1_SIZE = 1024 * 1024;
constexpr uint64_t ASC_L0C_SIZE = 256 * 1024;
constexpr uint64_t ASC_BT_SIZE = 0;
#endif
constexpr uint64_t ASC_L0A_SIZE = 64 * 1024;
constexpr uint64_t ASC_L0B_SIZE = 64 * 1024;
