// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/ascendc/runtime/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "isa/machine/issue.h"
#include "isa/machine/waits.h"

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

// What helps who wants such a kernel to run all the same.
std::string_view hint_for(const Error& e, Device& device) {
  constexpr u64 kPage = u64{2} << 20;
  const auto* illegal = dynamic_cast<const isa::IllegalIssue*>(&e);
  if (illegal == nullptr || illegal->id() != isa::FaultId::gm_out_of_bounds || device.settings().whole_pages) return "";
  const auto* near = device.gm().nearest(illegal->begin());
  if (near == nullptr || illegal->begin() < near->begin || illegal->begin() - near->begin > near->bytes + kPage)
    return "";
  return "\n  on a device, whose memory comes in pages of 2 MiB, it may go unnoticed: so with --allocation pages or "
         "VINCI_ALLOCATION=pages";
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
                        .block = mix ? &slot.state : nullptr,
                        .workspace = device_.operator_workspace()};
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
                  fmt::format("{}\n  kernel '{}', block {}, {}{}", e.message(), launch_.name, part.launch.block_idx,
                              isa::name(part.core->kind()), hint_for(e, device_)),
                  e.location());
    }
    moved = true;
    part.strand.reset();
    isa::NativeCore& native = part.core->native();
    sections_[part.section] = {true, native.take_trace(), native.code().sources()};
    --slot.left;
  }
  if (moved) idle_turns_ = 0;
  add_ended();
  using Turn = models::BlockRunner::Turn;
  if (slot.left == 0) return Turn::done;
  return moved ? Turn::moved : paused ? Turn::paused : Turn::waits;
}

void TaskRun::report_deadlock(const std::vector<std::unique_ptr<Slot>>& slots, u32 not_begun) const {
  Waits waits{.not_begun = not_begun, .task = fmt::format("kernel '{}'", launch_.name)};
  for (const auto& slot : slots) {
    for (const Part& part : slot->parts) {
      if (!part.strand) continue;
      part.core->native().machine().fail_at_fault();
      waits.cores.push_back(part.core->waits_for());
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
  for (Kernel& k : kernels_) {
    k.trace.end();
    if (!k.trace.gave_up() && k.trace.positions() <= isa::kMaxPositions) continue;
    device_.recorder().give_up(
        k.trace.gave_up()
            ? fmt::format("of the {} instructions that the kernel '{}' issued, more than {} do not repeat evenly",
                          issued_, launch_.name, isa::kMaxProgramLength)
            : fmt::format("the cores of the kernel '{}' issued {} instructions; a program has at most {}", launch_.name,
                          k.trace.positions(), isa::kMaxPositions));
    return;
  }
  if (!shape_.mix()) {
    const auto type = first_kind_ == isa::CoreKind::joint    ? task::KernelType::AI_CORE
                      : first_kind_ == isa::CoreKind::vector ? task::KernelType::AIV_ONLY
                                                             : task::KernelType::AIC_ONLY;
    device_.recorder().kernel(stream, put_together(type, kernels_[0]), std::move(op));
    return;
  }
  op.aivs = shape_.vector_cores;
  device_.recorder().mix_kernel(stream, put_together(task::KernelType::AIC_ONLY, kernels_[0]),
                                put_together(task::KernelType::AIV_ONLY, kernels_[1]), std::move(op));
}

// Sections that follow those that were added.
void TaskRun::add_ended() {
  for (; next_ < sections_.size() && sections_[next_].ended; ++next_) {
    Section section = std::exchange(sections_[next_], Section());
    issued_ += section.trace.positions();
    add(kernels_[next_ % parts() == 0 ? 0 : 1], std::move(section));
  }
}

void TaskRun::add(Kernel& kernel, Section&& section) {
  if (kernel.trace.gave_up()) return;
  const u64 hash = section.trace.hash();
  const auto [first, last] = kernel.known.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (it->second.sources != section.sources || !it->second.trace.same(section.trace)) continue;
    kernel.entries.push_back(it->second.entry);
    return;
  }
  const auto entry = static_cast<u32>(kernel.trace.positions());
  kernel.entries.push_back(entry);
  std::vector<u16> numbers;  // in the kernel, by number in the section
  for (const std::string& name : section.sources) {
    const auto at = std::ranges::find(kernel.sources, name);
    numbers.push_back(static_cast<u16>(at - kernel.sources.begin()));
    if (at == kernel.sources.end()) kernel.sources.push_back(name);
  }
  kernel.trace.append(section.trace, numbers);
  kernel.kept += section.trace.stored();
  constexpr usize kKept = usize{1} << 16;  // equal ones beyond are stored again, unless they are turns of a loop
  if (kernel.kept <= kKept)
    kernel.known.emplace(hash, Kernel::Known{std::move(section.trace), std::move(section.sources), entry});
}

task::Kernel TaskRun::put_together(task::KernelType type, Kernel& kernel) const {
  task::Kernel out;
  out.name = launch_.name;
  out.type = type;
  out.program.arch = device_.chip().arch;
  out.program.source = launch_.place.file;
  out.entries = std::move(kernel.entries);
  out.program.included.assign(kernel.sources.begin() + 1, kernel.sources.end());
  kernel.trace.write(out.program, !out.program.included.empty());
  return out;
}

}  // namespace vinci::ascendc
