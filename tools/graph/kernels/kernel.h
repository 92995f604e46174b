// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isa/builder/program_builder.h"
#include "sim/config/chip_config.h"
#include "sim/task/task.h"
#include "tools/graph/kernels/group.h"

// The contract of a kernel: which nodes it computes on which chip, in which formats, with which tilings, and its
// program.
namespace vinci::graph {

// Sizes that a kernel may choose, by name.
using Tiling = std::map<std::string, i64, std::less<>>;
std::string text(const Tiling& tiling);  // "m=128 n=256"

// Bytes of each buffer that a tiling takes; 0 where it takes none.
struct Footprint {
  u64 l1 = 0, l0a = 0, l0b = 0, l0c = 0, ub = 0;
};

// Formats of the tensors of a node. ND is the format that the tensor has in the model.
struct Formats {
  std::vector<isa::Format> inputs, outputs;
};

// A kernel of the user as it ran on the host. Its programs name addresses of that run.
struct RecordedKernel {
  struct Memory {
    u64 address = 0, bytes = 0;
  };

  task::Kernel kernel = {};              // of a MIX task: what the AIC runs
  std::optional<task::Kernel> aiv = {};  // and the AIVs
  u32 blocks = 1, aivs = 0;              // aivs: of a block, 0 where it is no MIX task
  std::vector<Memory> memory = {};       // of the operands of the node, of its outputs, and of the kernel's own
};

// A program for a node. Its launch arguments are the addresses of the inputs that are tensors (Group::inputs), then of
// the outputs.
struct KernelProgram {
  isa::BuiltProgram program = {};
  task::KernelType type = task::KernelType::AI_CORE;
  u32 blocks = 1;
  std::shared_ptr<const RecordedKernel> recorded = {};  // in place of the program
};

struct Kernel {
  std::string_view name;
  // "" where it computes the group; else the reason why not.
  std::string (*refuses)(const Group& group, const config::ChipConfig& chip);
  Formats (*formats)(const Group& group, const config::ChipConfig& chip);
  // At least one, the best by estimate first; each fits the buffers of the chip.
  std::vector<Tiling> (*tilings)(const Group& group, const config::ChipConfig& chip);
  Footprint (*footprint)(const Group& group, const config::ChipConfig& chip, const Tiling& tiling);
  KernelProgram (*build)(const Group& group, const config::ChipConfig& chip, const Tiling& tiling);
};

// All kernels, in the order in which they are asked.
std::span<const Kernel> all_kernels();

// The first kernel that computes the group. Throws Fault::Unsupported with the name of the node and the reasons of all.
const Kernel& kernel_for(const Group& group, const config::ChipConfig& chip);

// The families
// -----------------------------------------------------------------------------------------------------------

extern const Kernel kCastIntegersKernel;
extern const Kernel kCustomKernel;
extern const Kernel kElementwiseKernel;
extern const Kernel kConvolutionKernel;
extern const Kernel kExtremeRowsKernel;
extern const Kernel kGatherRowsKernel;
extern const Kernel kLayerNormKernel;
extern const Kernel kLongRowKernel;
extern const Kernel kMapReductionKernel;
extern const Kernel kMatmulKernel;
extern const Kernel kMoveKernel;
extern const Kernel kMoveColumnsKernel;
extern const Kernel kMoveElementsKernel;
extern const Kernel kMoveStreamsKernel;
extern const Kernel kPoolingKernel;
extern const Kernel kQuantiseMapKernel;
extern const Kernel kReductionKernel;
extern const Kernel kAxisReductionKernel;
extern const Kernel kScalarKernel;
extern const Kernel kScatterRowsKernel;
extern const Kernel kSoftmaxKernel;
extern const Kernel kTopKKernel;
extern const Kernel kTransDataKernel;
extern const Kernel kTransposeKernel;
extern const Kernel kTransposePackedKernel;

// What several families need
// -------------------------------------------------------------------------------------------

inline constexpr u64 kC0 = 16;                // channels of a block of NC1HWC0, rows and columns of a fractal, of f16
inline constexpr u64 kMostExtremeRows = 256;  // that ArgMax and ArgMin compare where their axis is not the last one
inline constexpr usize kMostTensors = 16;     // inputs of a kernel where the address of each has a register
inline constexpr usize kMostPieces = 256;     // of a tensor that is put together or taken apart
inline constexpr i64 kMaxWindow = 255;        // rows and columns of a window of load3d, and of what pads it
inline constexpr i64 kMaxWindowStride = 63;   // of such a window
inline constexpr u64 kMaxCopyGap = 65535;     // blocks of 32 B between pieces of a copy

// Cube and vector unit in one core.
inline bool is_joint(const config::ChipConfig& chip) { return chip.vector_cores == 0; }
inline u32 vector_cores(const config::ChipConfig& chip) { return is_joint(chip) ? chip.ai_cores : chip.vector_cores; }
inline task::KernelType vector_kernel_type(const config::ChipConfig& chip) {
  return is_joint(chip) ? task::KernelType::AI_CORE : task::KernelType::AIV_ONLY;
}

// The formats that the tensors have, of a kernel that has copies for them.
inline Formats present_formats(const Group& group, const config::ChipConfig& /*chip*/) {
  Formats out;
  for (const Value* const v : group.inputs())
    out.inputs.push_back(v->format);
  for (const Value* const v : group.outputs())
    out.outputs.push_back(v->format);
  return out;
}
// A program for vector cores, of which each has some of the tiles.
inline KernelProgram vector_program(isa::BuiltProgram program, u64 tiles, const config::ChipConfig& chip) {
  return {.program = std::move(program),
          .type = vector_kernel_type(chip),
          .blocks = static_cast<u32>(std::min<u64>(tiles, vector_cores(chip)))};
}
// Channels of a block of NC1HWC0 and FRACTAL_Z: those of 32 B, and 16 of types of 8 bytes.
constexpr u32 c0_of(DataType type) { return info(type).bytes > 4 ? kC0 : 32 / info(type).bytes; }
// Elements of a tensor in memory, with the padding of its format.
u64 stored_elements(const Shape& shape, isa::Format format, DataType type);
u64 stored_elements(const Value& value);
u64 stored_bytes(const Value& value);

}  // namespace vinci::graph
