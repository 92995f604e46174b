// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/runtime/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "isa/codec.h"
#include "isa/waits.h"

namespace vinci::ascendc {
namespace {

constexpr bool is_mix(KernelType type) { return type == KernelType::mix_1_1 || type == KernelType::mix_1_2; }

isa::CoreKind first_kind(const config::ChipConfig& chip, KernelType type) {
  if (!isa::contains(isa::kSplitArchs, chip.arch)) return isa::CoreKind::joint;
  return type == KernelType::vector || type == KernelType::mix_0_1 ? isa::CoreKind::vector : isa::CoreKind::cube;
}

models::BlockShape shape_of(const config::ChipConfig& chip, const Launch& launch) {
  const isa::CoreKind kind = first_kind(chip, launch.type);
  const bool mix = is_mix(launch.type) && kind == isa::CoreKind::cube;
  return {chip, kind, launch.blocks, mix ? (launch.type == KernelType::mix_1_2 ? 2u : 1u) : 0u};
}

CoreKind shown(isa::CoreKind kind) {
  return kind == isa::CoreKind::cube     ? CoreKind::cube
         : kind == isa::CoreKind::vector ? CoreKind::vector
                                         : CoreKind::joint;
}

}  // namespace

TaskRun::TaskRun(Device& device, const Launch& launch, std::function<void()> kernel)
    : device_(device),
      launch_(launch),
      kernel_(std::move(kernel)),
      block_shape_(shape_of(device.chip(), launch)),
      shape_(block_shape_.task()),
      first_kind_(block_shape_.kind()),
      flags_(shape_),
      sections_(usize{launch.blocks} * parts()) {}

void TaskRun::begin(Slot& slot, u32 index, u32 block) {
  slot.parts.clear();
  slot.state = {};
  slot.left = parts();
  const bool mix = shape_.mix();
  const isa::Launch all{.block_num = launch_.blocks};
  for (u32 n = 0; n < parts(); ++n) {
    const models::BlockShape::Part where = block_shape_.part(index, block, n);
    Part& part = slot.parts.emplace_back();
    part.core = &device_.core(where.kind, where.core);
    part.section = block * parts() + n;
    part.launch = block_shape_.launch(all, where);
    part.self = where.self;
  }
  for (Part& part : slot.parts) {
    const CoreInfo info{.kind = shown(part.core->kind()),
                        .block_idx = block,
                        .block_num = launch_.blocks,
                        .subblock_idx = part.launch.subblock_idx,
                        .subblock_num = part.launch.subblock_num,
                        .mix = mix,
                        .block_aivs = mix ? shape_.vector_cores : 0,
                        .block = mix ? &slot.state : nullptr};
    part.core->start(part.launch, &flags_, part.self, launch_.place.file, info, [] { Strand::give_way(); });
    const std::string name =
        fmt::format("{}{}", isa::name(part.core->kind()),
                    block * (mix && part.launch.part > 0 ? shape_.vector_cores : 1) + part.launch.subblock_idx);
    part.strand = std::make_unique<Strand>(name, [this, &part, &slot] { execute(part, slot.state); });
  }
}

void TaskRun::execute(Part& part, BlockState& state) {
  set_present(part.core);
  kernel_();
  state.ended[part.launch.part] = true;
  part.core->end();
}

models::BlockRunner::Turn TaskRun::advance(Slot& slot) {
  bool moved = false, paused = false;
  for (Part& part : slot.parts) {
    if (!part.strand) continue;
    const u64 before = part.core->progress();
    try {
      if (!part.strand->resume()) {
        const bool moves = part.core->progress() != before || part.core->stirred();
        paused = paused || (!moves && part.core->rereads() && ++idle_turns_ < kIdleTurns);
        moved = moved || moves;
        continue;
      }
    } catch (const Error& e) {
      throw Error(e.fault(),
                  fmt::format("{}\n  kernel '{}', block {}, {}", e.message(), launch_.name, part.launch.block_idx,
                              isa::name(part.core->kind())),
                  e.location());
    }
    moved = true;
    part.strand.reset();
    const isa::NativeCore& native = part.core->native();
    sections_[part.section] = {native.words(), native.lines(), native.files(), native.code().sources(),
                               part.core->branches()};
    --slot.left;
  }
  if (moved) idle_turns_ = 0;
  using Turn = models::BlockRunner::Turn;
  if (slot.left == 0) return Turn::done;
  return moved ? Turn::moved : paused ? Turn::paused : Turn::waits;
}

void TaskRun::report_deadlock(const std::vector<std::unique_ptr<Slot>>& slots, u32 not_begun) const {
  Waits waits{.not_begun = not_begun, .task = fmt::format("kernel '{}'", launch_.name)};
  for (const auto& slot : slots) {
    for (const Part& part : slot->parts) {
      if (part.strand) waits.cores.push_back(part.core->waits_for());
    }
  }
  throw deadlock(waits);
}

void TaskRun::run(u32 stream) {
  std::vector<std::unique_ptr<Slot>> slots;
  const Watched watched(device_.settings().watchdog, fmt::format("kernel '{}'", launch_.name));
  models::BlockRunner(launch_.blocks, block_shape_.slots(), models::BlockRunner::Opening::one)
      .run(
          [&](u32 slot, u32 block) {
            if (slot == slots.size()) slots.push_back(std::make_unique<Slot>());
            begin(*slots[slot], slot, block);
          },
          [&](u32 slot) { return advance(*slots[slot]); }, [&](u32 not_begun) { report_deadlock(slots, not_begun); });
  task::KernelLaunch op{.block_dim = launch_.blocks};
  usize length = 0;
  for (const Section& s : sections_)
    length += s.words.size();
  if (length > isa::kMaxProgramLength) {
    device_.recorder().give_up(fmt::format("the kernel '{}' issued {} instructions; a program has at most {}",
                                           launch_.name, length, isa::kMaxProgramLength));
    return;
  }
  if (!shape_.mix()) {
    const auto type = first_kind_ == isa::CoreKind::joint    ? task::KernelType::AI_CORE
                      : first_kind_ == isa::CoreKind::vector ? task::KernelType::AIV_ONLY
                                                             : task::KernelType::AIC_ONLY;
    device_.recorder().kernel(stream, put_together(type, 0, 1, 1), std::move(op));
    return;
  }
  op.aivs = shape_.vector_cores;
  device_.recorder().mix_kernel(stream, put_together(task::KernelType::AIC_ONLY, 0, 1, parts()),
                                put_together(task::KernelType::AIV_ONLY, 1, shape_.vector_cores, parts()),
                                std::move(op));
}

// The program of the parts [first, first + count) of each block; cores that issued the same share a section.
task::Kernel TaskRun::put_together(task::KernelType type, u32 first, u32 count, u32 stride) const {
  task::Kernel out;
  out.name = launch_.name;
  out.type = type;
  out.program.arch = device_.chip().arch;
  out.program.source = launch_.place.file;
  std::vector<std::string> sources{out.program.source};
  std::unordered_map<std::string_view, u32> known;
  for (u32 block = 0; block < launch_.blocks; ++block) {
    for (u32 n = 0; n < count; ++n) {
      const Section& s = sections_[block * stride + first + n];
      const std::string_view bytes(reinterpret_cast<const char*>(s.words.data()), s.words.size() * sizeof(isa::Word));
      const auto [it, fresh] = known.try_emplace(bytes, static_cast<u32>(out.program.code.size()));
      out.entries.push_back(it->second);
      if (!fresh) continue;
      out.program.code.insert(out.program.code.end(), s.words.begin(), s.words.end());
      const usize start = out.program.code.size() - s.words.size();
      for (const auto& [at, branch] : s.branches) {
        isa::Inst moved = branch;
        moved.operands[2].value += start;
        out.program.code[start + at] = isa::encode(moved);
      }
      out.program.lines.insert(out.program.lines.end(), s.lines.begin(), s.lines.end());
      std::vector<u16> numbers;  // in the program, by number in the section
      for (const std::string& name : s.sources) {
        const auto at = std::ranges::find(sources, name);
        numbers.push_back(static_cast<u16>(at - sources.begin()));
        if (at == sources.end()) sources.push_back(name);
      }
      for (const u16 file : s.files)
        out.program.files.push_back(numbers[file]);
    }
  }
  out.program.included.assign(sources.begin() + 1, sources.end());
  if (out.program.included.empty()) out.program.files.clear();
  return out;
}

}  // namespace vinci::ascendc
