// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/core_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/base/error.h"

namespace vinci::models {

isa::CoreSpec core_spec(const config::ChipConfig& chip, isa::CoreKind kind) {
  const config::BufferSizes& b = chip.core.buffers;
  isa::CoreSpec spec{.arch = chip.arch,
                     .kind = kind,
                     .sizes = {},
                     .flags_per_pair = chip.core.flags_per_pair,
                     .overflow = chip.numerics.overflow_mode,
                     .overflow_selectable = chip.numerics.saturation && chip.numerics.inf_nan,
                     .numerics = {.precision = chip.numerics.precision,
                                  .accumulation = chip.numerics.accumulation,
                                  .multiply_add = chip.numerics.multiply_add,
                                  .half_sums = chip.numerics.half_sums,
                                  .hf32_ties = chip.numerics.hf32_ties,
                                  .subnormals = chip.numerics.subnormals,
                                  .moved_specials = chip.numerics.moved_specials}};
  const auto set = [&](isa::BufId id, u64 bytes) { spec.sizes[isa::index(id)] = bytes; };
  if (kind != isa::CoreKind::vector) {
    set(isa::BufId::L1, b.l1);
    set(isa::BufId::L0A, b.l0a);
    set(isa::BufId::L0B, b.l0b);
    set(isa::BufId::L0C, b.l0c);
    set(isa::BufId::BT, b.bt);
    set(isa::BufId::FB, b.fb);
    if (isa::contains(isa::kSplitArchs, chip.arch)) set(isa::BufId::IDX, b.l0b / isa::kWeightsPerIndexByte);
  }
  if (kind != isa::CoreKind::cube) set(isa::BufId::UB, b.ub);
  return spec;
}

std::string core_name(isa::CoreKind kind, u32 id) { return fmt::format("core{}.{}", id, isa::name(kind)); }

isa::CoreKind core_kind(task::KernelType type) {
  switch (type) {
    case task::KernelType::AI_CORE: return isa::CoreKind::joint;
    case task::KernelType::AIC_ONLY: return isa::CoreKind::cube;
    case task::KernelType::AIV_ONLY: return isa::CoreKind::vector;
  }
  return isa::CoreKind::joint;
}

void check_fit(const config::ChipConfig& chip, const task::TaskStream& stream) {
  if (stream.arch != chip.arch) {
    fail(Fault::Input, "the task stream is compiled for {}, but {} is a {}", isa::name(stream.arch), chip.name,
         isa::name(chip.arch));
  }
  for (const task::Kernel& k : stream.kernels) {
    const bool split = chip.vector_cores > 0;
    if ((core_kind(k.type) == isa::CoreKind::joint) == split) {
      fail(Fault::Input, "kernel '{}' is of type {}, but {} has {} cores", k.name,
           task::kKernelTypeNames[static_cast<usize>(k.type)], chip.name, split ? "AIC and AIV" : "joint AI");
    }
  }
  for (const task::Stream& s : stream.streams) {
    for (const task::Task& t : s.tasks) {
      const auto* launch = std::get_if<task::KernelLaunch>(&t.op);
      if (launch == nullptr) continue;
      if (launch->mix() && stream.kernels[launch->kernel].opaque() != stream.kernels[launch->aiv_kernel].opaque())
        fail(Fault::Unsupported, "task '{}': a MIX task of an opaque kernel and one with a program", t.name);
      if (launch->aivs <= chip.vector_cores / chip.ai_cores) continue;
      fail(Fault::Input, "task '{}' is of type {}, but {} has {} AIC and {} AIV", t.name,
           task::kMixTypeNames[launch->aivs - 1], chip.name, chip.ai_cores, chip.vector_cores);
    }
  }
  std::vector<u64> device_bytes(stream.devices);
  for (const task::Buffer& b : stream.buffers) {
    if (b.place == task::Buffer::Place::device) device_bytes[b.device] += b.bytes;
  }
  const u64 most = *std::ranges::max_element(device_bytes);
  if (most > chip.memory.hbm.size) {
    fail(Fault::Limit, "the device buffers need {} bytes, but {} has {} bytes of memory", most, chip.name,
         chip.memory.hbm.size.value);
  }
}

}  // namespace vinci::models
