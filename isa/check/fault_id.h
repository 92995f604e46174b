// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string_view>

#include "isa/base/enums.h"
#include "isa/base/types.h"

namespace vinci::isa::check {

// The classes of faults: what the checker finds, and what ends a run without it. Ids stay.
enum class FaultId : u8 {
  out_of_bounds,
  gm_out_of_bounds,
  misaligned_access,
  use_after_free,
  unordered_free,
  double_free,
  buffer_overrun,
  illegal_operand,
  missing_argument,
  division_by_zero,
  missing_unit,
  flag_to_itself,
  event_out_of_range,
  uninitialised_read,
  uninitialised_gm_read,
  raw_hazard,
  war_hazard,
  waw_hazard,
  missing_pipe_barrier,
  block_overlap,
  core_overlap,
  task_overlap,
  unordered_event_reset,
  unordered_notify,
  unordered_collective,
  repeat_overlap,
  repeat_dependency,
  duplicate_set_flag,
  unpaired_set_flag,
  wait_without_set,
  unit_flag_wait,
  circular_wait,
  cross_core_setup,
  cross_core_overflow,
  unpaired_cross_core_set,
  missing_end,
  program_fault,
};

// What is said of a class. Texts may name the two sides of a finding: {at_pipe}, {at_line}, {at_task}, {at_core}, and
// {other_pipe} and so on of the side that it is in conflict with.
struct FaultText {
  std::string_view id;
  std::string_view what;             // its row in docs/checker.md; a test compares them
  std::string_view suggestion = {};  // what to add or change, where it does not depend on more than the two sides
  std::string_view conflict = {};    // the end of the message about two accesses
};
inline constexpr auto kFaultTexts = enum_table<FaultId, FaultText>(
    {{FaultId::out_of_bounds, {.id = "out-of-bounds", .what = "outside of a buffer of the core"}},
     {FaultId::gm_out_of_bounds, {.id = "gm-out-of-bounds", .what = "outside of every allocation of global memory"}},
     {FaultId::misaligned_access,
      {.id = "misaligned-access", .what = "an address that is no multiple of what its operand needs"}},
     {FaultId::use_after_free, {.id = "use-after-free", .what = "a buffer that an earlier task has freed"}},
     {FaultId::unordered_free,
      {.id = "unordered-free",
       .what = "a buffer that another stream frees, nothing says whether before or after the use",
       .suggestion = "event_record behind task '{other_task}', stream_wait_event before task '{at_task}'",
       .conflict = "; use after free: nothing orders the free before or after the use"}},
     {FaultId::double_free, {.id = "double-free", .what = "`free` of what is freed"}},
     {FaultId::buffer_overrun,
      {.id = "buffer-overrun",
       .what = "past the end of the buffer of a queue or a `TBuf` in which it begins",
       .suggestion = "make the buffer larger, or the access shorter"}},
     {FaultId::illegal_operand,
      {.id = "illegal-operand", .what = "a value that does not fit its operand, or a combination that does not exist"}},
     {FaultId::missing_argument,
      {.id = "missing-argument", .what = "`ld_arg` of an argument that the launch does not pass"}},
     {FaultId::division_by_zero, {.id = "division-by-zero", .what = "`div` or `rem` by 0"}},
     {FaultId::missing_unit, {.id = "missing-unit", .what = "a pipe or a buffer that this kind of core does not have"}},
     {FaultId::flag_to_itself, {.id = "flag-to-itself", .what = "`set_flag` or `wait_flag` from a pipe to itself"}},
     {FaultId::event_out_of_range, {.id = "event-out-of-range", .what = "an event id that the chip does not have"}},
     {FaultId::uninitialised_read,
      {.id = "uninitialised-read",
       .what = "a local buffer where this block wrote nothing",
       .suggestion = "load the whole range before"}},
     {FaultId::uninitialised_gm_read,
      {.id = "uninitialised-gm-read",
       .what = "global memory that no task and no kernel wrote",
       .suggestion = "copy or set the whole range before"}},
     {FaultId::raw_hazard,
      {.id = "raw-hazard",
       .what = "another pipe reads what one writes, unordered",
       .suggestion = "set_flag(PIPE_{other_pipe}, PIPE_{at_pipe}, EVENT_ID..) after {other_line}, "
                     "wait_flag(PIPE_{other_pipe}, PIPE_{at_pipe}, EVENT_ID..) before {at_line}"}},
     {FaultId::war_hazard,
      {.id = "war-hazard",
       .what = "another pipe writes what one reads, unordered",
       .suggestion = "set_flag(PIPE_{other_pipe}, PIPE_{at_pipe}, EVENT_ID..) after {other_line}, "
                     "wait_flag(PIPE_{other_pipe}, PIPE_{at_pipe}, EVENT_ID..) before {at_line}"}},
     {FaultId::waw_hazard,
      {.id = "waw-hazard",
       .what = "two pipes write the same, unordered",
       .suggestion = "set_flag(PIPE_{other_pipe}, PIPE_{at_pipe}, EVENT_ID..) after {other_line}, "
                     "wait_flag(PIPE_{other_pipe}, PIPE_{at_pipe}, EVENT_ID..) before {at_line}"}},
     {FaultId::missing_pipe_barrier,
      {.id = "missing-pipe-barrier",
       .what = "an instruction depends on an earlier one of its own pipe, without `pipe_barrier`; the "
               "vendor's compiler of Ascend C adds such barriers of PIPE_V, as `--cce-auto-sync` does "
               "(`docs/auto-sync.md`)",
       .suggestion = "pipe_barrier(PIPE_{at_pipe}) after {other_line}, before {at_line}"}},
     {FaultId::block_overlap,
      {.id = "block-overlap",
       .what = "blocks of one task meet in global memory, one of them writing",
       .suggestion = "give each block a range of its own, or order the blocks with cross-core flags",
       .conflict = "; blocks of one task run at once (multi-core corruption)"}},
     {FaultId::core_overlap,
      {.id = "core-overlap",
       .what = "two cores of one block of a MIX task meet in global memory, unordered, one of them writing",
       .suggestion = "ffts_cross_core_sync PIPE_{other_pipe} after {other_line}, wait_flag_dev before {at_line}",
       .conflict = "; {other_core} and {at_core} run at once (multi-core corruption)"}},
     {FaultId::task_overlap,
      {.id = "task-overlap",
       .what = "tasks that no stream and no event orders meet in global memory",
       .suggestion = "event_record behind task '{other_task}', stream_wait_event before task '{at_task}'",
       .conflict = "; nothing orders the two tasks"}},
     {FaultId::unordered_event_reset,
      {.id = "unordered-event-reset",
       .what = "an event is reset by a task that nothing orders with a record or a wait of it",
       .suggestion = "order task '{other_task}' and task '{at_task}' by a further event or notify"}},
     {FaultId::unordered_notify,
      {.id = "unordered-notify",
       .what = "a notify is recorded again, or waited for again, by a task that nothing orders with the "
               "wait before",
       .suggestion = "order task '{other_task}' and task '{at_task}' by a further event or notify"}},
     {FaultId::unordered_collective,
      {.id = "unordered-collective",
       .what = "two collectives of a communicator on one device that nothing orders; HCCL requires one "
               "order on all ranks",
       .suggestion = "event_record behind task '{other_task}', stream_wait_event before task '{at_task}'"}},
     {FaultId::repeat_overlap,
      {.id = "repeat-overlap",
       .what = "dst and src of one repeat overlap in part",
       .suggestion = "let dst and src of a repeat be the same blocks, or have none in common"}},
     {FaultId::repeat_dependency,
      {.id = "repeat-dependency",
       .what = "dst of a repeat is src of a later one, other than the accumulator (`vadd` and the like "
               "with dst = src1 and repeat stride 0)",
       .suggestion = "let dst and src be the same blocks in every repeat, or have none in common"}},
     {FaultId::duplicate_set_flag, {.id = "duplicate-set-flag", .what = "a flag is set that is still up, or may be"}},
     {FaultId::unpaired_set_flag, {.id = "unpaired-set-flag", .what = "a flag is up when its block ends"}},
     {FaultId::wait_without_set,
      {.id = "wait-without-set", .what = "a `wait_flag` or `wait_flag_dev` that nothing will ever satisfy"}},
     {FaultId::unit_flag_wait,
      {.id = "unit-flag-wait",
       .what = "`mad` or FIXPIPE waits for unit flags of L0C that the other one does not change",
       .suggestion = "give mad and FIXPIPE the same unitFlag on the same blocks of L0C, 3 at the last"}},
     {FaultId::circular_wait,
      {.id = "circular-wait",
       .what = "pipes or cores that wait for each other",
       .suggestion = "set the flags before the waits that hold them up"}},
     {FaultId::cross_core_setup,
      {.id = "cross-core-setup",
       .what = "a cross-core flag without `set_ffts_base_addr`, in a mode in which the core has no "
               "partners, or of more blocks than the chip holds"}},
     {FaultId::cross_core_overflow,
      {.id = "cross-core-overflow",
       .what = "a cross-core flag is set more often than its counter of 4 bits can count"}},
     {FaultId::unpaired_cross_core_set,
      {.id = "unpaired-cross-core-set",
       .what = "a core has waited less often than it was set a flag when the task ends"}},
     {FaultId::missing_end, {.id = "missing-end", .what = "the program runs past its last instruction"}},
     {FaultId::program_fault,
      {.id = "program-fault",
       .what = "any other fault that ends the run: `trap`, a third activation of a stream whose first run "
               "has not ended, ranks of a collective that do not mean the same"}}});
constexpr const FaultText& text(FaultId id) { return kFaultTexts[enum_index(id)]; }
constexpr std::string_view name(FaultId id) { return text(id).id; }

}  // namespace vinci::isa::check
