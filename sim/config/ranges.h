// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/chip_config.h"

// How far off the assumed costs of a chip may be (docs/chips.md).
namespace vinci::config {

// A group of numbers that is assumed, "core.queues", or one number of a group that is assumed in part,
// "memory.noc.latency".
struct AssumedCost {
  std::string key;
  AssumedRange range;
};

// Those that are times; sizes and counts do not. Of a cost line that is assumed in part these are its head,
// startup, minimum and tail; of other such groups what `ranges` of the chip names.
std::vector<AssumedCost> assumed_costs(const ChipConfig& chip);

// What of a cost line is scaled: what follows from its source, or head, startup, minimum and tail alone.
enum class Part : u8 { assumed, starts };

// The chip with the times of an assumed cost multiplied, and its rates and depths of queues divided.
ChipConfig scaled(const ChipConfig& chip, std::string_view key, double factor, Part part = Part::assumed);

// A key of `ranges` that can have none, and why, as the rest of a sentence.
struct BadRange {
  std::string key, why;
};
std::vector<BadRange> bad_ranges(const ChipConfig& chip);

// The dotted key of a cost line of this chip; "" where it is none.
std::string path_of(const ChipConfig& chip, const CostLine& line);

}  // namespace vinci::config
