// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The layer that the headers call (vinci/ascendc.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "ascendc/pipe_numbers.h"
#include "isa/arch.h"
#include "isa/base/suggest.h"
#include "isa/table/table.h"
#include "models/core/core_spec.h"
#include "tools/ascendc/runtime/core.h"
#include "tools/ascendc/runtime/device.h"

namespace vinci::ascendc {
namespace {

// Kernels give a pipe_t where an instruction has a pipe. A pipe that kernels cannot name is in PipeId alone.
consteval bool pipes_agree() {
  for (usize i = 0; i < enum_count<pipe_t>; ++i) {
    if (i >= isa::kPipeNames.size() || enum_names<pipe_t>[i].substr(5) != isa::kPipeNames[i]) return false;
  }
  return true;
}
static_assert(pipes_agree(), "pipe_t and isa::PipeId have different numbers");

// A fault ends the kernel of this core.
[[noreturn]] void stop(Fault fault, const std::string& text, Place place) {
  const Error e(fault, text, place.file == nullptr ? std::string() : fmt::format("{}:{}", place.file, place.line));
  if (Core* core = present()) core->stop(std::make_exception_ptr(e));
  throw e;
}

Core& need_core() {
  Core* core = present();
  if (core == nullptr) {
    fail(Fault::Program, "a function of kernels is called outside of a kernel; launch it with <<<>>> or ICPU_RUN_KF");
  }
  return *core;
}

// Faults are thrown through the kernel, as they end its core; one that knows no line gets that of the call. What
// destructors of the kernel call on the way does nothing.
template <class F>
auto located(Place place, F&& body) {
  Core* core = present();
  if (core != nullptr && core->stopped()) return decltype(body())();
  try {
    return body();
  } catch (const Error& e) {
    if (e.location().empty() || e.location().ends_with(']')) stop(e.fault(), e.message(), place);
    if (core != nullptr) core->stop(std::current_exception());
    throw;
  } catch (...) {
    if (core != nullptr) core->stop(std::current_exception());
    throw;
  }
}

std::optional<usize> field_named(const isa::Row& row, std::string_view name) {
  const auto at = std::ranges::find(row.fields, name, &isa::FieldInfo::name);
  if (at == row.fields.end()) return std::nullopt;
  return static_cast<usize>(at - row.fields.begin());
}

isa::ArgsStorage args_of(const isa::Inst& inst) {
  isa::ArgsStorage out;
  if (inst.row->set_type != nullptr) inst.row->set_type(out, inst.type);
  for (usize f = 0; f < inst.row->fields.size(); ++f)
    inst.row->fields[f].set(out, inst.operands[f].value);
  return out;
}

// Issues a vector instruction of one repeat for so many elements, without counter mode.
void issue_counted(Core& core, isa::Inst inst, usize repeat, Place place) {
  static constexpr u64 kMostRepeats = 255, kBlock = 32;
  const isa::Row& row = *inst.row;
  const isa::Arch arch = device().chip().arch;
  inst.operands[repeat].value = 1;
  const isa::ArgsStorage args = args_of(inst);
  // The lanes of a repeat, by how many repeats counter mode would have.
  isa::Spr counting;
  counting.ctrl = isa::ctrl::kCounterMode;
  counting.vector_mask = {1024, 0};
  const u64 lanes = 1024 / row.work(args, counting).steps;
  // From repeat to repeat, an operand moves by its stride in blocks. The results of a reduction have no blocks: their
  // stride is in what a repeat gives.
  std::array<u64, isa::kMaxOperands> step{};
  const isa::Footprint whole = row.footprint(args, isa::Spr{}, arch);
  for (usize f = 0; f < row.fields.size(); ++f) {
    const std::string name(row.fields[f].name);
    const auto stride = field_named(row, name + "RepStride");
    if (row.fields[f].memory != isa::BufId::UB || !stride) continue;
    u64 unit = kBlock;
    if (!field_named(row, name + "BlkStride")) {
      for (const isa::Access& a : whole)
        if (a.operand == row.fields[f].name) unit = a.bytes();
    }
    step[f] = unit * inst.operands[*stride].value;
  }
  static Insn mask("set_vector_mask");
  const auto part = [&](u64 first, u64 count, u64 active) {
    issue(mask, {active > 64 ? ~u64{0} >> (128 - active) : 0, active >= 64 ? ~u64{0} : (u64{1} << active) - 1}, place);
    isa::Inst out = inst;
    out.operands[repeat].value = count;
    for (usize f = 0; f < row.fields.size(); ++f)
      out.operands[f].value += first * step[f];
    located(place, [&] { core.issue(out, place); });
  };
  const u64 full = core.elements / lanes, rest = core.elements % lanes;
  for (u64 first = 0; first < full; first += kMostRepeats)
    part(first, std::min(kMostRepeats, full - first), lanes);
  if (rest != 0) part(full, 1, rest);
}

constexpr std::array kBuffers{isa::BufId::GM,  isa::BufId::L1, isa::BufId::L0A, isa::BufId::L0B,
                              isa::BufId::L0C, isa::BufId::UB, isa::BufId::BT,  isa::BufId::FB};

}  // namespace

void Insn::find(Place place) {
  const isa::Row* row = isa::row_of(std::string_view(name_));
  const isa::Arch arch = device().chip().arch;
  if (row == nullptr || !isa::contains(row->archs, arch)) {
    stop(Fault::Unsupported, fmt::format("{} does not exist on {}", name_, isa::name(arch)), place);
  }
  if (type_ != nullptr) {
    const auto form = std::ranges::find(row->types, std::string_view(type_), &isa::TypeForm::name);
    if (form == row->types.end() || !isa::contains(form->archs, arch)) {
      stop(Fault::Unsupported, fmt::format("{} has no form for the type {} on {}", name_, type_, isa::name(arch)),
           place);
    }
    form_ = static_cast<u8>(form - row->types.begin());
  }
  row_ = row;
}

void issue(Insn& insn, std::initializer_list<u64> operands, Place place) {
  Core& core = need_core();
  if (core.stopped()) return;
  if (insn.row_ == nullptr) insn.find(place);
  const auto& row = *static_cast<const isa::Row*>(insn.row_);
  isa::Inst inst{.row = &row, .type = insn.form_};
  usize i = 0;
  for (const u64 value : operands) {
    const isa::FieldInfo& field = row.fields[i];
    if (!field.fits(value)) {
      stop(Fault::Program,
           fmt::format("{}: {} = {} does not fit its {} bits", row.name, field.name, static_cast<i64>(value),
                       field.width),
           place);
    }
    inst.operands[i++] = {field.kind == isa::OperandKind::reg_dst, value};
  }
  for (; i < row.fields.size(); ++i)
    inst.operands[i].value = row.fields[i].fallback;
  if (core.elements != kNoCount && row.role == isa::Role::work) {
    if (const auto repeat = field_named(row, "repeat")) return issue_counted(core, inst, *repeat, place);
  }
  located(place, [&] { core.issue(inst, place); });
}

void count_elements(std::uint64_t count) { need_core().elements = count; }

std::uint64_t read(Insn& insn, Place place) {
  issue(insn, {0}, place);
  return need_core().native().machine().x(0);
}

void charge(Work what, unsigned times) { need_core().charge(cycles_of(what) * times); }

std::uint64_t size_of(Memory memory) {
  if (memory == Memory::gm || memory == Memory::none) return 0;
  return need_core().native().machine().mem()[kBuffers[static_cast<usize>(memory)]].size();
}

std::uint64_t size_on_chip(Memory memory) {
  const config::ChipConfig& chip = device().chip();
  if (memory == Memory::gm) return static_cast<u64>(chip.memory.hbm.size);
  if (memory == Memory::none) return static_cast<u64>(chip.memory.l2.size);
  const auto id = kBuffers[static_cast<usize>(memory)];
  u64 size = 0;
  const bool split = isa::contains(isa::kSplitArchs, chip.arch);
  for (const auto kind :
       split ? std::vector{isa::CoreKind::cube, isa::CoreKind::vector} : std::vector{isa::CoreKind::joint})
    size = std::max(size, u64{models::core_spec(chip, kind).sizes[isa::index(id)]});
  return size;
}

std::uint64_t load(Memory memory, std::uint64_t address, unsigned bytes, Place place) {
  return located(place, [&] { return need_core().load(memory, address, bytes, place, Through::tensor); });
}

namespace {
// One behind the other from the beginning of each memory on, as the kernel comes to their declarations.
struct LocalArrays {
  std::array<u64, isa::kBufCount> tops{};
  std::map<const void*, u64> addresses;
};
constexpr unsigned kFirstSpace = 2;  // of ascendc/language.h
constexpr std::array kSpaces{Memory::l1, Memory::l0a, Memory::l0b, Memory::l0c, Memory::ub};
}  // namespace

std::uint64_t local_array(const void* site, unsigned space, std::uint64_t bytes, Place place) {
  return located(place, [&]() -> std::uint64_t {
    constexpr u64 kAlign = 32;
    Core& core = need_core();
    if (space < kFirstSpace || space - kFirstSpace >= kSpaces.size())
      fail(Fault::Unsupported,
           "an array in this memory of the core; those of UB, L1, L0A, L0B and L0C can be declared");
    const Memory memory = kSpaces[space - kFirstSpace];
    if (core.info.arrays == nullptr) core.info.arrays = std::make_shared<LocalArrays>();
    auto& arrays = *static_cast<LocalArrays*>(core.info.arrays.get());
    const auto [it, fresh] = arrays.addresses.try_emplace(site, 0);
    if (fresh) {
      u64& top = arrays.tops[static_cast<usize>(memory)];
      it->second = top;
      top += (bytes + kAlign - 1) / kAlign * kAlign;
      if (top > size_of(memory))
        fail(Fault::Program, "the arrays of this kernel take {} bytes, the memory of the core has {}", top,
             size_of(memory));
    }
    return it->second;
  });
}

std::uint64_t peek(Memory memory, std::uint64_t address, unsigned bytes, Place place) {
  if (memory == Memory::none) fail(Fault::Program, "the tensor has no memory");
  return located(place, [&] { return need_core().peek(kBuffers[static_cast<usize>(memory)], address, bytes); });
}

void store(Memory memory, std::uint64_t address, unsigned bytes, std::uint64_t value, Place place) {
  located(place, [&] { need_core().store(memory, address, bytes, value, place, Through::tensor); });
}

u64 pointer_load(Memory memory, u64 address, unsigned bytes, Place place) {
  return located(place, [&] { return need_core().load(memory, address, bytes, place, Through::pointer); });
}

void pointer_store(Memory memory, u64 address, unsigned bytes, u64 value, Place place) {
  located(place, [&] { need_core().store(memory, address, bytes, value, place, Through::pointer); });
}

std::uint32_t await(std::uint64_t address, std::int32_t value, Place place) {
  return located(place, [&] { return need_core().await(address, value, place); });
}
void give_way(bool stirs, Place place) { need_core().let_others_run(stirs, place); }
void* system_workspace(std::size_t bytes) {
  static const u64 address = device().allocate(bytes);
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}
std::uint64_t constants(std::uint64_t address, std::uint64_t bytes) {
  return address < kDeviceEnd ? address : device().constants(address, bytes);
}
void set_operator_workspace(void* workspace) { device().set_operator_workspace(workspace); }
void repeat(std::uint32_t from, std::int32_t value, Place place) {
  located(place, [&] {
    if (device().recorder().with_data())
      need_core().repeat(from, value, place);
    else
      need_core().note_wait(place);
  });
}

CoreInfo& core() { return need_core().info; }
bool in_kernel() { return present() != nullptr; }

std::uint32_t core_count(CoreKind kind) {
  return kind == CoreKind::vector ? device().chip().vector_cores : device().chip().ai_cores;
}
const char* product() { return device().chip().product.c_str(); }

void set_l2(std::uint64_t address, L2 hint, Place place) {
  located(place,
          [&] { device().set_l2(address, hint == L2::bypass ? task::CacheHint::bypass : task::CacheHint::normal); });
}

void unsupported(const char* what, Place place) {
  stop(Fault::Unsupported, fmt::format("{} is not supported by Vinci", what), place);
}
void wrong(const char* what, Place place) {
  if (present() == nullptr) die(Error(Fault::Program, what, fmt::format("{}:{}", place.file, place.line)));
  stop(Fault::Program, what, place);
}

}  // namespace vinci::ascendc

// For programs that declare it themselves (ascendc/language.h).
std::uint32_t get_block_idx();
std::uint32_t get_block_idx() { return vinci::ascendc::core().block_idx; }
