// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>

#include "tests/check/mutants.h"
#include "tests/check/vector_pipeline.h"
#include "tests/support/timed_run.h"

namespace vinci::test {
namespace {

using isa::check::FaultId;

using VectorEdit = std::function<void(const VectorPipeline&, Random&, Mutant&)>;

// Both kinds of core that have a vector unit.
Mutant vector_mutant(Random& random, const VectorEdit& edit) {
  const bool split = random() % 2 == 0;
  const VectorPipeline v = VectorPipeline::random(random);
  Mutant m{
      .chip = round_chip(split ? isa::Arch::c220 : isa::Arch::c100), .stream = {}, .program = v.program(), .at = {}};
  edit(v, random, m);
  m.stream = launch_stream(m.chip, split ? isa::CoreKind::vector : isa::CoreKind::joint, m.program.text(), v.buffers(),
                           v.blocks);
  return m;
}

// The same, with a task stream to change once it is made.
Mutant stream_mutant(Random& random, std::string at, const std::function<void(task::TaskStream&, Random&)>& edit) {
  Mutant m = vector_mutant(random, [](const auto&, Random&, Mutant&) {});
  edit(m.stream, random);
  m.at = std::move(at);
  return m;
}

MutantClass vector_class(std::string name, FaultId id, VectorEdit edit) {
  return {std::move(name), id, [edit = std::move(edit)](Random& random) { return vector_mutant(random, edit); }};
}

// A tile after which the slot is used again, and one of the last two, after which it is not.
u32 early(const VectorPipeline& v, Random& r) { return below(r, v.tiles - 2); }
u32 late(const VectorPipeline& v, Random& r) { return v.tiles - 1 - below(r, 2); }

task::Task& task_of(task::TaskStream& s, std::string_view name) {
  return *std::ranges::find(s.streams[0].tasks, name, &task::Task::name);
}

void erase_task(task::TaskStream& s, std::string_view name) {
  std::erase_if(s.streams[0].tasks, [&](const task::Task& t) { return t.name == name; });
}

// A second stream with one task; it waits for nothing.
void add_loose(task::TaskStream& s, task::Task t) { s.streams.push_back({.name = "loose", .tasks = {std::move(t)}}); }

task::Task memset_of(u32 buffer, u64 bytes) {
  return {.name = "loose", .op = task::MemsetAsync{.dst = {.buffer = buffer}, .bytes = bytes, .value = 1}};
}

}  // namespace

std::vector<MutantClass> vector_classes() {
  using V = VectorPipeline;
  std::vector<MutantClass> out;
  const auto add = [&](std::string name, FaultId id, VectorEdit edit) {
    out.push_back(vector_class(std::move(name), id, std::move(edit)));
  };
  add("no flag from load to first op", FaultId::raw_hazard, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    drop(m, {tag("loaded set", t), tag("loaded wait", t)});
    m.at = tag("op", t, 0);
    m.other = tag("load", t);
  });
  add("no flag from last op to store", FaultId::raw_hazard, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    drop(m, {tag("done set", t), tag("done wait", t)});
    m.at = tag("store", t);
    m.other = tag("op", t, v.ops - 1);
  });
  add("no flag from first op to the load that reuses its slot", FaultId::war_hazard,
      [](const V& v, Random& r, Mutant& m) {
        const u32 t = early(v, r);
        drop(m, {tag("used", t), tag("free in", t + 2)});
        m.at = tag("load", t + 2);
        m.other = tag("op", t, 0);
      });
  add("no flag from store to the op that reuses its slot", FaultId::war_hazard, [](const V& v, Random& r, Mutant& m) {
    const u32 t = early(v, r);
    drop(m, {tag("stored", t), tag("free out", t + 2)});
    m.at = tag("op", t + 2, v.ops - 1);
    m.other = tag("store", t);
  });
  add("two pipes write a slot without flag", FaultId::waw_hazard, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);  // a constant, written while the load may still be under way
    m.program.insert_after(tag("load", t), fmt::format("vector_dup.f16 {:#x}, 0, 1, 1, 1, 8, 8", v.in(t)), "dup");
    m.at = "dup";
    m.other = tag("load", t);
  });
  add("wait moved behind the op", FaultId::raw_hazard, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    const std::string wait = m.program.lines[m.program.at(tag("loaded wait", t))].text;
    m.program.drop(tag("loaded wait", t));
    m.program.insert_after(tag("op", t, 0), wait, "moved");
    m.at = tag("op", t, 0);
    m.other = tag("load", t);
  });
  add("set moved before the load", FaultId::raw_hazard, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    const std::string set = m.program.lines[m.program.at(tag("loaded set", t))].text;
    m.program.drop(tag("loaded set", t));
    m.program.insert_after(tag("from", t), set, "moved");
    m.at = tag("op", t, 0);
    m.other = tag("load", t);
  });
  add("no pipe_barrier between dependent ops", FaultId::missing_pipe_barrier, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles), i = 1 + below(r, v.ops - 1);
    drop(m, {tag("barrier", t, i)});
    m.at = tag("op", t, i);
    m.other = tag("op", t, i - 1);
  });
  add("a load over a load", FaultId::missing_pipe_barrier, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    m.program.insert_after(tag("load", t), m.program.lines[m.program.at(tag("load", t))].text, "again");
    m.at = "again";
    m.other = tag("load", t);
  });
  add("set_flag left out, nothing sets it later", FaultId::wait_without_set, [](const V& v, Random& r, Mutant& m) {
    const u32 t = late(v, r);
    drop(m, {tag("loaded set", t)});
    m.at = tag("loaded wait", t);
  });
  add("one wait_flag too many", FaultId::wait_without_set, [](const V& v, Random& r, Mutant& m) {
    const u32 t = late(v, r);
    m.program.insert_after(tag("done wait", t), fmt::format("wait_flag PIPE_V, PIPE_MTE3, EVENT_ID{}", t % 2), "twice");
    m.at = "twice";
  });
  add("set_flag left out, the next one is behind the wait", FaultId::circular_wait,
      [](const V& v, Random& r, Mutant& m) {
        const u32 t = early(v, r);
        drop(m, {tag("loaded set", t)});
        m.at = tag("loaded wait", t) + "|" + tag("free in", t + 2);
      });
  add("scalar unit waits for a flag that it would let be set", FaultId::circular_wait,
      [](const V& v, Random& r, Mutant& m) {
        const u32 t = below(r, v.tiles);
        const std::string set = m.program.lines[m.program.at(tag("loaded set", t))].text;
        m.program.drop(tag("loaded set", t));
        m.program.insert_after(tag("loaded wait", t), "set_flag PIPE_V, PIPE_S, EVENT_ID2", "to scalar");
        m.program.insert_after("to scalar", "wait_flag PIPE_V, PIPE_S, EVENT_ID2", "scalar wait");
        m.program.insert_after("scalar wait", set, "too late");
        m.at = "scalar wait|" + tag("loaded wait", t);
      });
  add("wait_flag left out", FaultId::unpaired_set_flag, [](const V& v, Random& r, Mutant& m) {
    const u32 t = late(v, r);
    const bool load = below(r, 2) == 0;
    drop(m, {tag(load ? "loaded wait" : "done wait", t)});
    m.at = tag(load ? "loaded set" : "done set", t);
  });
  add("set_flag doubled", FaultId::duplicate_set_flag, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    m.program.insert_after(tag("loaded set", t), m.program.lines[m.program.at(tag("loaded set", t))].text, "twice");
    m.at = "twice";
    m.other = tag("loaded set", t);
  });
  add("flag set again before its wait need have happened", FaultId::duplicate_set_flag,
      [](const V& v, Random& r, Mutant& m) {
        const u32 t = early(v, r);  // no flag says that its slot is free again
        drop(m, {tag("used", t), tag("free in", t + 2)});
        m.at = tag("loaded set", t + 2);
        m.other = tag("loaded set", t);
      });
  add("event id that the chip does not have", FaultId::event_out_of_range, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    m.program.replace(tag("loaded set", t), fmt::format("set_flag PIPE_MTE2, PIPE_V, EVENT_ID{}", 4 + below(r, 4)));
    m.at = tag("loaded set", t);
  });
  add("flag of a pipe to itself", FaultId::flag_to_itself, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    m.program.replace(tag("done set", t), fmt::format("set_flag PIPE_V, PIPE_V, EVENT_ID{}", t % 2));
    m.at = tag("done set", t);
  });
  add("load beyond UB", FaultId::out_of_bounds, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    m.program.replace(tag("load", t), fmt::format("copy_gm_to_ubuf {:#x}, X10, 0, 1, {}, 0, 0",
                                                  0x10000 - 32 * (v.repeats * 8 - 1 - below(r, 8)), v.repeats * 8));
    m.at = tag("load", t);
  });
  add("source of an op beyond UB", FaultId::out_of_bounds, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles), i = below(r, v.ops);
    m.program.replace(tag("op", t, i), v.op_text(i, v.op_dst(t, i), 0x10000 - 32 - 32 * below(r, 15)));
    m.at = tag("op", t, i);
  });
  add("repeat grown beyond UB", FaultId::out_of_bounds, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    V wide = v;
    wide.repeats = 250 + below(r, 6);
    m.program.replace(tag("op", t, v.ops - 1), wide.op_text(v.ops - 1, v.op_dst(t, v.ops - 1), v.op_src(t, v.ops - 1)));
    m.at = tag("op", t, v.ops - 1);
  });
  add("load beyond its slot", FaultId::buffer_overrun, [](const V& v, Random& r, Mutant& m) {
    const u32 t = early(v, r);
    m.at = fmt::format("load {}", t);
    m.program.replace(m.at, fmt::format("copy_gm_to_ubuf {:#x}, X10, 0, 1, {}, 0, 0", v.in(t), v.repeats * 8 + 1));
  });
  add("op with one repeat more than its slot", FaultId::buffer_overrun, [](const V& v, Random& r, Mutant& m) {
    const u32 t = early(v, r);
    VectorPipeline longer = v;
    ++longer.repeats;
    m.at = fmt::format("op {} 0", t);
    m.program.replace(m.at, longer.op_text(0, v.op_dst(t, 0), v.op_src(t, 0)));
  });
  add("load beyond its allocation", FaultId::gm_out_of_bounds, [](const V& v, Random& r, Mutant& m) {
    const u32 t = v.tiles - 1;  // of the last block: one block of 32 B or more too long
    m.program.replace(tag("load", t), fmt::format("copy_gm_to_ubuf {:#x}, X10, 0, 1, {}, 0, 0", v.in(t),
                                                  v.repeats * 8 + 1 + below(r, 16)));
    m.at = tag("load", t);
  });
  add("store beyond its allocation", FaultId::gm_out_of_bounds, [](const V& v, Random& r, Mutant& m) {
    const u32 t = v.tiles - 1;
    m.program.replace(tag("to", t), fmt::format("add X11, X2, {}", v.in_bytes() - 32 * below(r, 8)));
    m.at = tag("store", t);
  });
  add("misaligned load", FaultId::misaligned_access, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    m.program.replace(tag("load", t), fmt::format("copy_gm_to_ubuf {:#x}, X10, 0, 1, {}, 0, 0",
                                                  v.in(t) + 1 + below(r, 31), v.repeats * 8));
    m.at = tag("load", t);
  });
  add("misaligned op", FaultId::misaligned_access, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles), i = below(r, v.ops);
    m.program.replace(tag("op", t, i), v.op_text(i, v.op_dst(t, i) + 2 * (1 + below(r, 15)), v.op_src(t, i)));
    m.at = tag("op", t, i);
  });
  add("first load left out", FaultId::uninitialised_read, [](const V&, Random&, Mutant& m) {
    drop(m, {"load bias", "bias set", "bias wait"});
    m.at = "op 0 0";
  });
  add("first load too short", FaultId::uninitialised_read, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, 2);
    m.program.replace(tag("load", t), fmt::format("copy_gm_to_ubuf {:#x}, X10, 0, 1, {}, 0, 0", v.in(t),
                                                  1 + below(r, v.repeats * 8 - 1)));
    m.at = tag("op", t, 0);
  });
  add("other buffer read", FaultId::uninitialised_read, [](const V& v, Random&, Mutant& m) {
    m.program.replace("op 0 0", v.op_text(0, v.op_dst(0, 0), v.in(1)));  // which is loaded only for tile 1
    m.at = "op 0 0";
  });
  add("other buffer read later", FaultId::raw_hazard, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles - 1);
    m.program.insert_after(tag("load", t + 1), v.op_text(1, 0xb000, v.in(t + 1)), "early");
    m.at = "early";
    m.other = tag("load", t + 1);
  });
  add("blocks write one place", FaultId::block_overlap, [](const V& v, Random& r, Mutant& m) {
    m.program.drop("out of block");
    const u32 t = below(r, v.tiles);
    m.at = tag("store", t);
    m.other = tag("store", t);
  });
  add("blocks overlap a little", FaultId::block_overlap, [](const V& v, Random& r, Mutant& m) {
    // Each block starts some blocks of 32 B before the end of the one before.
    m.program.insert_after("out of block", "get_block_idx X12", "");
    m.program.lines.insert(m.program.lines.begin() + static_cast<std::ptrdiff_t>(m.program.at("out of block") + 2),
                           {{fmt::format("mul X12, X12, {}", 32 * (1 + below(r, 15))), ""}, {"sub X2, X2, X12", ""}});
    m.at = "store 0";
    m.other = tag("store", v.tiles - 1);
  });
  add("block reads what another writes", FaultId::block_overlap, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    m.program.replace(tag("from", t), "ld_arg X10, 2");  // the first tile of the output
    m.at = tag("load", t) + "|store 0";
  });
  add("dst and src of a repeat overlap in part", FaultId::repeat_overlap, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    V one = v;
    one.repeats = 1;
    m.program.replace(tag("op", t, 1), one.op_text(1, v.op_src(t, 1) + 32 * (1 + below(r, 7)), v.op_src(t, 1)));
    m.at = tag("op", t, 1);
  });
  add("dst of a repeat is src of a later one", FaultId::repeat_dependency, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    m.program.replace(tag("op", t, 1),
                      v.op_text(1, v.op_src(t, 1) + 256 * (1 + below(r, v.repeats - 1)), v.op_src(t, 1)));
    m.at = tag("op", t, 1);
  });
  add("operand does not fit", FaultId::illegal_operand, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    m.program.insert_after(tag("from", t), fmt::format("mov X13, {}", 256 + below(r, 1000)), "count");
    m.program.replace(tag("op", t, 1),
                      fmt::format("vadds.f16 {:#x}, {:#x}, 0x3c00, X13, 1, 1, 8, 8", v.op_dst(t, 1), v.op_src(t, 1)));
    m.at = tag("op", t, 1);
  });
  add("pipe that the core does not have", FaultId::missing_unit, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    const std::string_view pipe = m.chip.arch == isa::Arch::c220 ? "M" : "FIX";
    m.program.insert_after(tag("load", t), fmt::format("set_flag PIPE_{}, PIPE_V, EVENT_ID0", pipe), "missing");
    m.at = "missing";
  });
  add("scalar load without flag", FaultId::raw_hazard, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    m.program.insert_after(tag("op", t, 0), fmt::format("ld_ubuf.b32 X14, {:#x}", v.op_dst(t, 0)), "scalar");
    m.at = "scalar";
    m.other = tag("op", t, 0);
  });
  add("scalar store without flag", FaultId::war_hazard, [](const V& v, Random& r, Mutant& m) {
    const u32 t = below(r, v.tiles);
    m.program.insert_after(tag("op", t, 1), fmt::format("st_ubuf.b32 7, {:#x}", v.op_src(t, 1)), "scalar");
    m.at = "scalar";
    m.other = tag("op", t, 1);
  });
  add("argument that the launch does not pass", FaultId::missing_argument, [](const V& v, Random& r, Mutant& m) {
    m.program.insert_after(tag("from", below(r, v.tiles)), fmt::format("ld_arg X14, {}", 3 + below(r, 5)), "argument");
    m.at = "argument";
  });
  add("division by zero", FaultId::division_by_zero, [](const V& v, Random& r, Mutant& m) {
    m.program.insert_after(tag("from", below(r, v.tiles)),
                           fmt::format("{} X14, X10, X15", r() % 2 == 0 ? "div" : "rem"), "division");
    m.program.insert_after(m.program.lines[m.program.at("division") - 1].tag, "mov X15, 0", "");
    m.at = "division";
  });
  add("the end is missing", FaultId::missing_end, [](const V&, Random&, Mutant& m) {
    m.program.lines.pop_back();
    m.program.lines.back().tag = "last";
    m.at = "last";
  });
  add("trap", FaultId::program_fault, [](const V& v, Random& r, Mutant& m) {
    m.program.insert_after(tag("from", below(r, v.tiles)), fmt::format("trap {}", below(r, 1000)), "trap");
    m.at = "trap";
  });
  return out;
}

std::vector<MutantClass> stream_classes() {
  std::vector<MutantClass> out;
  const auto add = [&](std::string name, FaultId id, std::string at,
                       std::function<void(task::TaskStream&, Random&)> e) {
    out.push_back(
        {std::move(name), id, [at = std::move(at), e = std::move(e)](Random& r) { return stream_mutant(r, at, e); }});
  };
  add("device buffer never written", FaultId::uninitialised_gm_read, "load 0|load 1|load 2|load 3|load 4|load 5|load 6",
      [](task::TaskStream& s, Random&) { erase_task(s, "set in"); });
  add("device buffer written in part", FaultId::uninitialised_gm_read,
      "load 0|load 1|load 2|load 3|load 4|load 5|load 6", [](task::TaskStream& s, Random& r) {
        auto& op = std::get<task::MemcpyAsync>(task_of(s, "set in").op);
        op.width -= 32 * (1 + r() % (op.width / 32 - 1));
      });
  add("freed before its use", FaultId::use_after_free, "load bias", [](task::TaskStream& s, Random&) {
    s.streams[0].tasks.insert(s.streams[0].tasks.end() - 1, {.name = "free", .op = task::Free{.buffer = 1}});
  });
  add("freed twice", FaultId::double_free, "second", [](task::TaskStream& s, Random& r) {
    const auto buffer = static_cast<u32>(r() % 3);
    s.streams[0].tasks.push_back({.name = "free", .op = task::Free{.buffer = buffer}});
    s.streams[0].tasks.push_back({.name = "second", .op = task::Free{.buffer = buffer}});
  });
  add("set after free", FaultId::use_after_free, "loose", [](task::TaskStream& s, Random& r) {
    const auto buffer = static_cast<u32>(r() % 3);
    s.streams[0].tasks.push_back({.name = "free", .op = task::Free{.buffer = buffer}});
    s.streams[0].tasks.push_back(memset_of(buffer, 32));
  });
  add("freed by a stream that does not wait", FaultId::unordered_free, "loose|set in|set bias|load bias|load 0",
      [](task::TaskStream& s, Random& r) {
        add_loose(s, {.name = "loose", .op = task::Free{.buffer = static_cast<u32>(r() % 2)}});
      });
  add("set by a stream that does not wait", FaultId::task_overlap, "loose", [](task::TaskStream& s, Random& r) {
    const auto buffer = static_cast<u32>(r() % 3);
    add_loose(s, memset_of(buffer, s.buffers[buffer].bytes));
  });
  add("copied by a stream that does not wait", FaultId::task_overlap, "loose", [](task::TaskStream& s, Random& r) {
    const u64 bytes = 32 * (1 + r() % (s.buffers[1].bytes / 32));
    const task::MemcpyAsync copy{.dst = {.buffer = 2},
                                 .src = {.buffer = 1},
                                 .width = bytes,
                                 .height = 1,
                                 .dst_pitch = bytes,
                                 .src_pitch = bytes};
    add_loose(s, {.name = "loose", .op = copy});
  });
  // The loose task is handed over last; the positions of the others decide which comes first.
  const auto somewhere = [](task::TaskStream& s, Random& r, const task::Task& t) {
    auto& tasks = s.streams[0].tasks;
    tasks.insert(tasks.begin() + static_cast<std::ptrdiff_t>(r() % (tasks.size() + 1)), t);
  };
  add("event reset by a stream that does not wait", FaultId::unordered_event_reset, "record",
      [=](task::TaskStream& s, Random& r) {
        s.events = {"e"};
        somewhere(s, r, {.name = "record", .op = task::EventRecord{.event = 0}});
        add_loose(s, {.name = "loose", .op = task::EventReset{.event = 0}});
      });
  add("notify recorded twice without waiting", FaultId::unordered_notify, "record",
      [=](task::TaskStream& s, Random& r) {
        s.notifies = {"n"};
        add_loose(s, {.name = "record", .op = task::NotifyRecord{.notify = 0}});
        s.streams.back().tasks.insert(s.streams.back().tasks.end(), 1 + r() % 3, s.streams.back().tasks.back());
        somewhere(s, r, {.name = "wait", .op = task::NotifyWait{.notify = 0}});
      });
  add("collectives of two streams of a device", FaultId::unordered_collective, "loose",
      [=](task::TaskStream& s, Random& r) {
        const auto buffer = static_cast<u32>(r() % 3);
        s.comms = {{.name = "world", .devices = {0}}};
        const task::Hccl sum{.send = {.buffer = buffer}, .recv = {.buffer = buffer}, .count = 1 + r() % 8};
        somewhere(s, r, {.name = "sum", .op = sum});
        add_loose(s, {.name = "loose", .op = sum});
      });
  return out;
}

}  // namespace vinci::test
