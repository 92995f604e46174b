// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/machine/sequencer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/insns/system.h"
#include "isa/text/text.h"

namespace vinci::isa {
namespace {

// Adds the instruction, with the values that it was to execute with, to what is wrong with it.
template <class F>
void explained(const CodeInst& inst, const ArgsStorage& args, F&& body) {
  try {
    body();
  } catch (const IllegalIssue& e) {
    throw e.with_message(fmt::format("{}\n  in {}", e.message(), print_resolved(*inst.row, inst.type, args)));
  } catch (const Error& e) {
    throw Error(e.fault(), fmt::format("{}\n  in {}", e.message(), print_resolved(*inst.row, inst.type, args)),
                e.location());
  }
}

}  // namespace

void Sequencer::start(const Code& code, const Launch& launch) {
  code_ = &code;
  cursor_.start(code);
  launch_ = &launch;
  x_ = {};
  spr_ = {};
  if (core_.overflow == OverflowMode::inf_nan) spr_.ctrl |= ctrl::kInfNan;
  pc_ = launch.entry;
  issued_ = 0;
  done_ = false;
  unknown_ = 0;
}

void Sequencer::fail_missing_end() {
  fail_issue(FaultId::missing_end, "the program runs past its last instruction; `end` is missing");
}

void Sequencer::refuse_unknown(const CodeInst& inst, u8 reg) const {
  const CodeInst& load = (*code_)[origin_[reg]];
  fail(Fault::Unsupported,
       "timing mode moves no data, but {} depends on X{}, which {} (line {}) loads; run in mode full or functional",
       inst.row->name, reg, load.row->name, load.line);
}

bool Sequencer::stores_unknown(const CodeInst& inst, u32 tainted) {
  if (inst.row->opcode != insn::StDev::opcode && inst.row->opcode != insn::StUbuf::opcode) return false;
  for (u8 p = 0; p < inst.patch_count; ++p) {
    const auto [field, reg] = inst.patches[p];
    if (field->name != "value" && (tainted >> reg & 1) != 0) return false;
  }
  return true;
}

void Sequencer::patch(const CodeInst& inst, ArgsStorage& args) const {
  for (u8 p = 0; p < inst.patch_count; ++p) {
    const auto [field, reg] = inst.patches[p];
    const FieldInfo& f = *field;
    if (!f.fits(x_[reg])) [[unlikely]] {
      const u64 half = u64{1} << (f.width - 1);
      fail(Fault::Program, "{}: {} = {} (X{}) does not fit its {} bits, {} to {}", inst.row->name, f.name,
           static_cast<i64>(x_[reg]), reg, f.width, f.is_signed ? -static_cast<i64>(half) : 0,
           f.is_signed ? half - 1 : 2 * half - 1);
    }
    f.set(args, x_[reg]);
  }
  cursor_.grow(inst, args);
}

u64 Sequencer::bytes_at(const Access& access) const {
  u64 out = 0;
  const usize len = std::min<usize>(access.len, sizeof out);
  if (mem_ == nullptr) return out;
  if (access.buffer == BufId::GM) {
    mem_->gm().read(access.address, std::as_writable_bytes(std::span(&out, 1)).first(len));
  } else {
    std::memcpy(&out, (*mem_)[access.buffer].bytes(access.address, len).data(), len);
  }
  return out;
}

std::optional<Access> Sequencer::next_access() {
  const CodeInst& inst = current();
  if (inst.row->role != Role::scalar || inst.row->footprint == nullptr) return std::nullopt;
  const u32 unknown = inst.sources & unknown_;
  if (unknown != 0 && !stores_unknown(inst, unknown)) return std::nullopt;
  ArgsStorage args = inst.args;
  try {
    patch(inst, args);
    return *inst.row->footprint(args, spr_, core_.arch).begin();
  } catch (const Error&) {  // step() throws it again, and knows what to say
    return std::nullopt;
  }
}

u64 Sequencer::step(u64 status, const ResultRegisters& results, u64 sys_cnt) {
  const CodeInst& inst = current();
  forget_last();
  if (step_plain(inst)) return 0;
  if (inst.row->role == Role::end) {
    done_ = true;
    if (observer_ != nullptr) observer_->ended();
    return 0;
  }
  u32 tainted = inst.sources & unknown_;
  if (tainted != 0 && stores_unknown(inst, tainted)) [[unlikely]]
    tainted = 0;
  if (tainted != 0 && (inst.written == CodeInst::kNoRegister || inst.row->footprint != nullptr)) [[unlikely]] {
    // A branch, a special register, or the address of a scalar access.
    refuse_unknown(inst, static_cast<u8>(std::countr_zero(tainted)));
  }

  if (tainted != 0) {  // arithmetic on an unknown value: the result is unknown too, and nothing else can be said of it
    origin_[inst.written] = origin_[static_cast<usize>(std::countr_zero(tainted))];
    unknown_ |= 1u << inst.written;
    ++pc_;
    return 0;
  }
  ArgsStorage args = inst.args;
  // What an observer sees; most scalar instructions have no need of it.
  const auto issued = [&] {
    return Issued{.row = inst.row, .args = args, .spr = spr_, .pc = pc_, .line = inst.line, .type = inst.type};
  };
  try {
    patch(inst, args);
    if (inst.row->opcode == insn::Nop::opcode) {
      stated_cycles_ = args_of<insn::Nop>(args).cycles;
      counted_cycles_ = args_of<insn::Nop>(args).counted;
    }
    if (inst.row->remark && observer_ != nullptr) observer_->remarked(issued());
    if (inst.row->footprint != nullptr) {
      explained(inst, args, [&] {
        const Footprint footprint = inst.row->footprint(args, spr_, core_.arch);
        check_footprint(footprint, PipeId::S, core_, gm_);
        last_access_ = *footprint.begin();
      });
      if (observer_ != nullptr) observer_->accessed(issued());
    }
  } catch (const Error& e) {
    if (!refused(e, issued())) throw;
    leave_out(inst);
    return 0;
  }
  ScalarContext context{.x = x_,
                        .spr = spr_,
                        .pc = pc_,
                        .next_pc = pc_ + 1,
                        .block_idx = launch_->block_idx,
                        .block_num = launch_->block_num,
                        .core_id = core_id_,
                        .subblock_idx = launch_->subblock_idx,
                        .subblock_num = launch_->subblock_num,
                        .overflow = overflow_of(core_, spr_),
                        .sys_cnt = sys_cnt,
                        .args = launch_->args,
                        .status = status,
                        .results = results,
                        .mem = mem_};
  const bool stores = last_access_ && last_access_->write;
  const u64 before = stores ? bytes_at(*last_access_) : 0;
  try {
    explained(inst, args, [&] { inst.row->execute_scalar(args, context); });
    changed_memory_ = stores && bytes_at(*last_access_) != before;
  } catch (const IllegalIssue& e) {  // thrown before anything is written
    if (!refused(e, issued())) throw;
    leave_out(inst);
    return 0;
  }
  if (inst.written != CodeInst::kNoRegister) {
    const u32 written = 1u << inst.written;
    if (context.loaded_unknown) {
      origin_[inst.written] = pc_;
      unknown_ |= written;
    } else {
      unknown_ &= ~written;
    }
  }
  pc_ = context.next_pc;
  return context.status_raised;
}

void Sequencer::leave_out(const CodeInst& inst) {
  if (inst.written != CodeInst::kNoRegister) {
    x_[inst.written] = 0;
    unknown_ &= ~(1u << inst.written);
  }
  ++pc_;
}

bool Sequencer::refused(const Error& e, const Issued& inst) {
  return observer_ != nullptr && e.fault() == Fault::Program && observer_->refused(inst, e);
}

bool Sequencer::take(Issued& out) {
  const CodeInst& inst = current();
  out.row = inst.row;
  out.args = inst.args;
  out.spr = spr_;
  out.order = issued_++;
  out.pc = pc_;
  out.line = inst.line;
  out.type = inst.type;
  out.pipe = PipeId::S;
  if (const u32 tainted = inst.sources & unknown_; tainted != 0) [[unlikely]] {
    refuse_unknown(inst, static_cast<u8>(std::countr_zero(tainted)));
  }
  try {
    patch(inst, out.args);
    out.pipe = inst.row->pipe(out.args, core_.arch);
  } catch (const Error& e) {
    if (!refused(e, out)) throw;
    ++pc_;
    return false;
  }
  return true;
}

bool Sequencer::check(const Issued& inst) {
  try {
    explained(current(), inst.args, [&] { check_issue(inst, core_, gm_, std::exchange(footprint_, nullptr)); });
  } catch (const Error& e) {
    if (!refused(e, inst)) throw;
    ++pc_;
    return false;
  }
  return true;
}

}  // namespace vinci::isa
