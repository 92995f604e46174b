// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/issue.h"

#include <algorithm>

#include "isa/base/error.h"
#include "isa/insns/sync.h"
#include "isa/machine/cross_core.h"
#include "isa/text/text.h"

namespace vinci::isa {
namespace {

// First and last byte + 1 that an access can touch; strides may be zero but never negative in this set.
struct Extent {
  u64 begin = 0, end = 0;
};

Extent extent(const Access& a) {
  u64 last = a.address;
  for (usize d = 0; d < a.count.size(); ++d)
    last += static_cast<u64>(a.stride[d]) * (a.count[d] - 1);
  return {a.address, last + a.len};
}

[[noreturn]] void fail_local(const Access& a, const Extent& e, u64 size) {
  std::string buffer(name(a.buffer));
  std::ranges::transform(buffer, buffer.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  throw IllegalIssue(FaultId::out_of_bounds,
                     fmt::format("the {} address out of bounds: {} {} [{:#x}, {:#x}) but {} has {:#x} bytes", buffer,
                                 a.operand, a.write ? "writes" : "reads", e.begin, e.end, name(a.buffer), size),
                     &a, e.begin, e.end);
}

std::string_view gm_fault(const Access& a, PipeId by) {
  if (by == PipeId::FIX) return "fixpipe to write GM is invalid";
  if (by == PipeId::S) return "The DDR address of the scalar instruction is out of range";
  return a.write ? "The write address of the MTE instruction is out of range"
                 : "The DDR address of the MTE instruction is out of range";
}

[[noreturn]] void fail_gm(const Access& a, u64 begin, u64 end, PipeId by, const GlobalMemory& gm) {
  if (const auto* freed = gm.find_freed(begin, end - begin)) {
    throw IllegalIssue(FaultId::use_after_free,
                       fmt::format("use after free: {}: {} [{:#x}, {:#x}) is in '{}', which a task has freed",
                                   gm_fault(a, by), a.operand, begin, end, freed->name),
                       &a, begin, end);
  }
  const auto* near = gm.nearest(begin);
  std::string hint = "nothing is allocated";
  if (near != nullptr) {
    hint = fmt::format("nearest is '{}' [{:#x}, {:#x})", near->name, near->begin, near->begin + near->bytes);
  }
  throw IllegalIssue(
      FaultId::gm_out_of_bounds,
      fmt::format("{}: {} [{:#x}, {:#x}) is in no allocation; {}", gm_fault(a, by), a.operand, begin, end, hint), &a,
      begin, end);
}

[[noreturn]] void fail_pipe(PipeId missing, CoreKind kind) {
  std::string has;
  for (usize p = 0; p < kPipeCount; ++p) {
    const auto pipe = static_cast<PipeId>(p);
    if ((pipes_of(kind) & bit(pipe)) != 0) has += fmt::format("{}{}", has.empty() ? "" : ", ", name(pipe));
  }
  throw IllegalIssue(FaultId::missing_unit,
                     fmt::format("a core of type {} has no PIPE_{}; its pipes are {}", name(kind), name(missing), has));
}

void check_gm(const Access& a, PipeId by, const GlobalMemory& gm) {
  const Extent e = extent(a);
  if (gm.find(e.begin, e.end - e.begin) != nullptr) return;  // the common case: one look-up for the whole access
  for (u32 k = 0; k < a.count[2]; ++k) {
    for (u32 j = 0; j < a.count[1]; ++j) {
      for (u32 i = 0; i < a.count[0]; ++i) {
        const u64 at = a.address + static_cast<u64>(a.stride[0]) * i + static_cast<u64>(a.stride[1]) * j +
                       static_cast<u64>(a.stride[2]) * k;
        if (gm.find(at, a.len) == nullptr) fail_gm(a, at, at + a.len, by, gm);
      }
    }
  }
}

}  // namespace

void check_footprint(const Footprint& footprint, PipeId by, const CoreSpec& core, const GlobalMemory& gm) {
  for (const Access& a : footprint) {
    if (a.empty()) continue;
    if (a.align > 1 && a.address % a.align != 0) [[unlikely]] {
      throw IllegalIssue(FaultId::misaligned_access,
                         fmt::format("unaligned access: {} = {:#x} in {} must be a multiple of {} bytes", a.operand,
                                     a.address, name(a.buffer), a.align),
                         &a, a.address, a.address + a.len);
    }
    if (a.buffer == BufId::GM) {
      check_gm(a, by, gm);
      continue;
    }
    const u64 size = core.sizes[index(a.buffer)];
    if (size == 0) [[unlikely]] {
      throw IllegalIssue(FaultId::missing_unit,
                         fmt::format("a core of type {} has no {}", name(core.kind), name(a.buffer)), &a, a.address,
                         a.address + a.len);
    }
    const Extent e = extent(a);
    if (e.end > size) [[unlikely]]
      fail_local(a, e, size);
  }
}

void check_issue(const Issued& inst, const CoreSpec& core, const GlobalMemory& gm, const Footprint* footprint) {
  const u32 pipes = pipes_of(core.kind);
  const auto need_pipe = [&](PipeId p) {
    if (p == PipeId::ALL) [[unlikely]]
      throw IllegalIssue(FaultId::missing_unit, "PIPE_ALL is no pipe that a flag can belong to; name one");
    if ((pipes & bit(p)) == 0) [[unlikely]]
      fail_pipe(p, core.kind);
  };
  switch (inst.row->role) {
    case Role::work:
      need_pipe(inst.pipe);
      if (footprint != nullptr) {
        check_footprint(*footprint, inst.pipe, core, gm);
      } else {
        check_footprint(inst.row->footprint(inst.args, inst.spr, core.arch), inst.pipe, core, gm);
      }
      return;
    case Role::set_flag:
    case Role::wait_flag: {
      const auto& a = args_of<insn::SetFlag>(inst.args);
      need_pipe(a.src);
      need_pipe(a.dst);
      if (a.src == a.dst) {
        throw IllegalIssue(FaultId::flag_to_itself,
                           fmt::format("{} from PIPE_{} to itself; use pipe_barrier", inst.row->name, name(a.src)));
      }
      if (a.event >= core.flags_per_pair) {
        throw IllegalIssue(FaultId::event_out_of_range,
                           fmt::format("event id {} out of range: this chip has EVENT_ID0..EVENT_ID{}", a.event,
                                       core.flags_per_pair - 1));
      }
      return;
    }
    case Role::pipe_barrier:
      if (inst.pipe != PipeId::ALL) need_pipe(inst.pipe);
      return;
    case Role::cross_set: {
      const auto& a = args_of<insn::FftsCrossCoreSync>(inst.args);
      if (a.which == PipeId::S || a.which == PipeId::ALL) {
        fail_issue(FaultId::missing_unit, "{} on PIPE_{}: a pipe that executes instructions is needed", inst.row->name,
                   name(a.which));
      }
      need_pipe(a.which);
      CrossCoreSet::parse(a.config);
      [[fallthrough]];
    }
    case Role::cross_wait:
      if (inst.spr[SprId::ffts_base_addr] == 0) {
        fail_issue(FaultId::cross_core_setup, "{} before set_ffts_base_addr", inst.row->name);
      }
      return;
    case Role::scalar:
    case Role::end: return;
  }
}

std::string to_string(const Issued& inst) { return print_resolved(*inst.row, inst.type, inst.args); }

}  // namespace vinci::isa
