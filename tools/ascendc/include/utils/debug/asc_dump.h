// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/debug.h"

// asc_dump: the elements from a pointer on, as DumpTensor shows those of a tensor. Documentation: Ascend C, debugging.
#define VINCI_ASC_DUMP(memory, of, name)                                                           \
  template <typename T>                                                                            \
  void name(memory T* input, uint32_t desc, uint32_t dump_size, VINCI_PLACE) {                     \
    AscendC::vinci_detail::DumpMemory<AscendC::vinci_detail::Element<T>>(                          \
        ::vinci::ascendc::Memory::of, reinterpret_cast<uintptr_t>(input), desc, dump_size, place); \
  }                                                                                                \
  template <typename T>                                                                            \
  void asc_dump(memory T* input, uint32_t desc, uint32_t dump_size, VINCI_PLACE) {                 \
    name(input, desc, dump_size, place);                                                           \
  }
VINCI_ASC_DUMP(__gm__, gm, asc_dump_gm)
VINCI_ASC_DUMP(__ubuf__, ub, asc_dump_ubuf)
VINCI_ASC_DUMP(__cbuf__, l1, asc_dump_l1buf)
VINCI_ASC_DUMP(__cc__, l0c, asc_dump_cbuf)
#undef VINCI_ASC_DUMP
