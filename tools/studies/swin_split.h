// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "sim/config/chip_config.h"
#include "sim/task/stream_builder.h"
#include "tools/studies/swin_streams.h"

// Window attention in one MIX task of the split core (c220). The cube core of a block makes S of two windows and
// multiplies P with v; each of its vector cores makes P of one of the windows. S and P pass through memory, in places
// that each block has for itself.
namespace vinci::studies::swin {

// What each vector core reads once: the table, and three masks as rows of 64 floats.
inline constexpr u64 kSplitConstants = kTableEdge * kTableEdge * kBlock + 3 * kTokens * kPadded * 4;

task::BuiltStream split(const config::ChipConfig& chip, const Data& d);

}  // namespace vinci::studies::swin
