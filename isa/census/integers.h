// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/census/lanes.h"

namespace vinci::isa {

// The events of integer sums, differences and products, and of casts that raised STATUS. Lane by lane: asked for where
// a repeat raised something alone.
LaneEvents integer_events(const LaneResults& r);
LaneEvents raised_cast_events(const LaneResults& r);

}  // namespace vinci::isa
