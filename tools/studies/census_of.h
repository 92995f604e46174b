// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

#include "isa/census/census.h"
#include "tools/studies/study.h"

// What the census of a run of one stream says about its tasks, by name.
namespace vinci::studies {

// All events of a kind in the tasks of this name.
u64 events_of(const Run& run, const isa::Census& census, std::string_view task, isa::NumericEvent event);
// The first task that saw one; "" where none did.
std::string first_task(const Run& run, const isa::Census& census, isa::NumericEvent event);

}  // namespace vinci::studies
