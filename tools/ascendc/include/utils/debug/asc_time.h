// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "ascendc/debug.h"

// Documentation: Ascend C, debugging.
inline void asc_time_stamp(uint32_t desc_id, VINCI_PLACE) { AscendC::PrintTimeStamp(desc_id, place); }
inline void asc_prof_start() { AscendC::MetricsProfStart(); }
inline void asc_prof_stop() { AscendC::MetricsProfStop(); }
