// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "isa/base/error.h"
#include "isa/check/fault_id.h"
#include "isa/table/exec.h"
#include "isa/table/insn.h"

namespace vinci::isa {

// An instruction on its way to a pipe: operand values in place, with the special registers of its moment.
struct Issued {
  const Row* row = nullptr;
  ArgsStorage args;
  Spr spr;
  u64 order = 0;  // of this instruction among those that its block has issued
  u32 pc = 0;
  u32 line = 0;
  u8 type = 0;
  PipeId pipe = PipeId::S;
};

// What a core is, as far as legality goes; no time.
struct CoreSpec {
  Arch arch = Arch::c220;
  CoreKind kind = CoreKind::cube;
  BufSizes sizes{};
  u32 flags_per_pair = 8;
  OverflowMode overflow = OverflowMode::inf_nan;  // that a block starts in
  bool overflow_selectable = true;                // whether CTRL[48] can change it
  NumericOptions numerics = {};
};

// The overflow mode of an instruction that was issued with these special registers.
inline OverflowMode overflow_of(const CoreSpec& core, const Spr& spr) {
  if (!core.overflow_selectable) return core.overflow;
  return (spr.ctrl & ctrl::kInfNan) != 0 ? OverflowMode::inf_nan : OverflowMode::saturation;
}

using check::FaultId;

// Fault::Program with the bytes that it is about, where it is about an access.
class IllegalIssue : public Error {
 public:
  IllegalIssue(FaultId id, std::string message, const Access* access = nullptr, u64 begin = 0, u64 end = 0)
      : Error(Fault::Program, std::move(message)), id_(id), begin_(begin), end_(end) {
    if (access != nullptr) access_ = *access;
  }
  IllegalIssue with_message(std::string message, std::string location = {}) const {
    return {*this, std::move(message), std::move(location)};
  }
  FaultId id() const { return id_; }
  const std::optional<Access>& access() const { return access_; }
  u64 begin() const { return begin_; }  // first byte that is refused, in the buffer of the access
  u64 end() const { return end_; }

 private:
  IllegalIssue(const IllegalIssue& of, std::string message, std::string location)
      : Error(Fault::Program, std::move(message), std::move(location)),
        id_(of.id_),
        access_(of.access_),
        begin_(of.begin_),
        end_(of.end_) {}

  FaultId id_;
  std::optional<Access> access_;
  u64 begin_, end_;
};

template <class... A>
[[noreturn]] void fail_issue(FaultId id, fmt::format_string<A...> text, A&&... args) {
  throw IllegalIssue(id, fmt::format(text, std::forward<A>(args)...));
}

// Refuses what the hardware would trap on: a pipe or buffer that the core does not have, an address out of a buffer or
// of every allocation of global memory, a misaligned address, an event id or a pair of pipes that does not exist.
// Throws IllegalIssue; the texts contain the strings of the vendor's error messages that users search for.
// `footprint`: that of the instruction, where it is known already; null: it is not.
void check_issue(const Issued& inst, const CoreSpec& core, const GlobalMemory& gm,
                 const Footprint* footprint = nullptr);

// The same for a footprint alone. `by` is the pipe that accesses.
void check_footprint(const Footprint& footprint, PipeId by, const CoreSpec& core, const GlobalMemory& gm);

// "mad.f162f32 c=0x0 a=0x0 ..." with the values that it was issued with.
std::string to_string(const Issued& inst);

}  // namespace vinci::isa
