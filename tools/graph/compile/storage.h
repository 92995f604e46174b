// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tools/graph/ir/graph.h"

// The layout of values in device memory.
namespace vinci::graph {

// Values begin at whole lines of memory.
inline constexpr u64 kLineBytes = 512;

// Bytes that a value needs: behind its last element there is room for copies of whole blocks of 32 B.
u64 allocated_bytes(const Value& value);

// Whether a node is no task: its output has the bytes of its input.
bool is_alias(const Node& node);
// The value whose memory a value has.
const Value* storage_of(const Value* value);
// A constant as stored in memory, with zeros behind it up to allocated_bytes().
std::vector<std::byte> stored_constant(const Value& value);
// Extents of a tensor as stored in memory.
std::vector<u64> stored_extents(const Value& value);
// Converts a tensor to its layout in memory, and back.
std::vector<std::byte> to_storage(const Value& value, const Array& array);
Array from_storage(const Value& value, std::span<const std::byte> bytes);

}  // namespace vinci::graph
