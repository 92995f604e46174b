// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <functional>
#include <map>
#include <string>

#include "isa/builder/program_builder.h"
#include "sim/config/chip_config.h"
#include "tools/graph/kernels/group.h"

// Element-wise nodes as vector instructions: the bodies of element-wise kernels and the epilogues of others.
namespace vinci::graph {

// Addresses in UB of the values of a group.
using Addresses = std::function<u64(const Value* value)>;

// Where they are, and scratch_bytes() of scratch.
struct VectorPlace {
  Addresses at;
  u64 scratch = 0;
};

// Whether a tensor has one number for each channel of a map in NC1HWC0: a block of 16 numbers for all positions of a
// block of channels.
bool is_by_channel(const Value& operand, const Value& map);

// Whether an input of the group has fewer elements than `out`, in ND, and is repeated to its shape.
bool is_broadcast(const Group& group, const Value& operand, const Value& out);

// "" where vector instructions compute all nodes [first, end) of the group on the chip; else the reason why not.
std::string vector_refuses(const Group& group, usize first, const config::ChipConfig& chip);

// Types of one byte, which nodes compute with as f16 in UB: Booleans, i8 and u8.
bool is_byte(DataType type);
// Between bytes, as they are in memory, and f16.
void widen_bytes(isa::ProgramBuilder& p, DataType type, u64 dst, u64 src, u64 elements);
void narrow_bytes(isa::ProgramBuilder& p, DataType type, u64 dst, u64 src, u64 elements);

// Bytes of UB that the nodes [first, end) take for so many elements, in addition to their values.
u64 scratch_bytes(const Group& group, usize first, u64 elements);

// Writes nodes [first, end) of the group for so many elements. Each value has a buffer of its own. The mask must be all
// ones, and is so behind it.
void write_vector_nodes(isa::ProgramBuilder& p, const Group& group, usize first, const VectorPlace& place,
                        u64 elements);

// body(first element, repeats) in parts that an instruction takes, for lanes of 32 bits (wide) or 16; the mask is set
// for the rest and is all ones behind it. Ends with a barrier, so that the next instruction may read the result.
void in_repeats(isa::ProgramBuilder& p, bool wide, u64 elements,
                const std::function<void(u64 first, u64 repeats)>& body);

// What the nodes [first, end) take of the vector unit, by its cost lines: cycles for each 128 elements, and once for
// each part of the elements that instructions work on.
struct VectorWork {
  double cycles = 0, once = 0;
};
VectorWork vector_work(const Group& group, usize first, const config::ChipConfig& chip);

// Buffers in UB for the nodes [first, end): index of the buffer of each value, by order of the nodes' outputs, so that
// values that live at the same time have different ones. Inputs and outputs of the group are not counted.
struct Temporaries {
  std::map<const Value*, u32> of;
  u32 count = 0;
};
Temporaries temporaries(const Group& group, usize first);

}  // namespace vinci::graph
