// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/check/cube_pipeline.h"
#include "tests/check/vector_pipeline.h"
#include "tests/support/timed_run.h"

// Programs that are wrong by construction: one thing of a correct pipeline is taken away, moved or added, of which the
// pipeline's own description says that nothing else does its work. Each must be found, under the right id, at the right
// instruction.
namespace vinci::test {
namespace {

using isa::check::FaultId;
using Random = std::mt19937_64;

constexpr int kMutants = 24;  // of each class

struct Mutant {
  config::ChipConfig chip;
  task::TaskStream stream;
  Lines program;
  std::string at;          // tag of the instruction, or name of the task
  std::string other = "";  // of the one that it is in conflict with; "": not asked for
};

struct Class {
  std::string name;
  FaultId id;
  std::function<Mutant(Random&)> make;
};

u32 below(Random& random, u32 n) { return static_cast<u32>(random() % n); }

// -----------------------------------------------------------------------------------------------------------------------
// Mutants of the vector pipeline

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

Class vector_class(std::string name, FaultId id, VectorEdit edit) {
  return {std::move(name), id, [edit](Random& random) { return vector_mutant(random, edit); }};
}

std::string tag(std::string_view what, u32 a) { return fmt::format("{} {}", what, a); }
std::string tag(std::string_view what, u32 a, u32 b) { return fmt::format("{} {} {}", what, a, b); }

// A tile after which the slot is used again, and one of the last two, after which it is not.
u32 early(const VectorPipeline& v, Random& r) { return below(r, v.tiles - 2); }
u32 late(const VectorPipeline& v, Random& r) { return v.tiles - 1 - below(r, 2); }

void drop(Mutant& m, std::initializer_list<std::string> tags) {
  for (const std::string& t : tags)
    m.program.drop(t);
}

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

std::vector<Class> vector_classes() {
  using V = VectorPipeline;
  std::vector<Class> out;
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
        const u32 t = early(v, r);  // its slot is free again, says nobody
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
  add("load beyond its allocation", FaultId::out_of_bounds, [](const V& v, Random& r, Mutant& m) {
    const u32 t = v.tiles - 1;  // of the last block: one block of 32 B or more too long
    m.program.replace(tag("load", t), fmt::format("copy_gm_to_ubuf {:#x}, X10, 0, 1, {}, 0, 0", v.in(t),
                                                  v.repeats * 8 + 1 + below(r, 16)));
    m.at = tag("load", t);
  });
  add("store beyond its allocation", FaultId::out_of_bounds, [](const V& v, Random& r, Mutant& m) {
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
  return out;
}

// -----------------------------------------------------------------------------------------------------------------------
// Mutants of task streams

std::vector<Class> stream_classes() {
  std::vector<Class> out;
  const auto add = [&](std::string name, FaultId id, std::string at,
                       std::function<void(task::TaskStream&, Random&)> e) {
    out.push_back({std::move(name), id, [at, e](Random& r) { return stream_mutant(r, at, e); }});
  };
  add("device buffer never written", FaultId::uninitialised_read, "load 0|load 1|load 2|load 3|load 4|load 5|load 6",
      [](task::TaskStream& s, Random&) { erase_task(s, "set in"); });
  add("device buffer written in part", FaultId::uninitialised_read, "load 0|load 1|load 2|load 3|load 4|load 5|load 6",
      [](task::TaskStream& s, Random& r) {
        auto& op = std::get<task::MemsetAsync>(task_of(s, "set in").op);
        op.bytes -= 32 * (1 + r() % (op.bytes / 32 - 1));
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
  add("freed by a stream that does not wait", FaultId::use_after_free, "loose|set in|set bias|load bias|load 0",
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
  return out;
}

// -----------------------------------------------------------------------------------------------------------------------
// Mutants of the cube pipeline

using CubeEdit = std::function<void(const CubePipeline&, Random&, Mutant&)>;

std::vector<Class> cube_classes() {
  using C = CubePipeline;
  std::vector<Class> out;
  const auto add = [&](std::string name, FaultId id, CubeEdit edit) {
    out.push_back({std::move(name), id, [edit](Random& random) {
                     const C c = C::random(random);
                     Mutant m{.chip = round_chip(isa::Arch::c220), .stream = {}, .program = c.program(), .at = {}};
                     edit(c, random, m);
                     m.stream = launch_stream(m.chip, isa::CoreKind::cube, m.program.text(), c.buffers(), 1);
                     return m;
                   }});
  };
  add("no flag from GM load to L1 load", FaultId::raw_hazard, [](const C&, Random& r, Mutant& m) {
    drop(m, {"l1 set", "l1 wait"});
    const bool a = r() % 2 == 0;
    m.at = a ? "ca 0 0" : "cb 0 0";
    m.other = a ? "load a" : "load b";
  });
  add("no flag from L0 load to mad", FaultId::raw_hazard, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles), k = below(r, 2);
    drop(m, {tag("l0 set", t, k), tag("l0 wait", t, k)});
    m.at = tag("mad", t, k);
    m.other = tag(r() % 2 == 0 ? "ca" : "cb", t, k);
  });
  add("no flag from mad to the load that reuses L0", FaultId::war_hazard, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles - 1), k = below(r, 2);
    drop(m, {tag("l0 used", t, k), tag("l0 free", t + 1, k)});
    m.at = tag(r() % 2 == 0 ? "ca" : "cb", t + 1, k);
    m.other = tag("mad", t, k);
  });
  add("no flag from mad to FIXPIPE", FaultId::raw_hazard, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles);
    drop(m, {tag("c set", t), tag("c wait", t)});
    m.at = tag("store", t);
    m.other = tag("mad", t, 1);
  });
  add("no flag from FIXPIPE to the mad that reuses L0C", FaultId::war_hazard, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles - 1);
    drop(m, {tag("c stored", t), tag("c free", t + 1)});
    m.at = tag("mad", t + 1, 0);
    m.other = tag("store", t);
  });
  add("no pipe_barrier between short mads", FaultId::missing_pipe_barrier, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles);
    drop(m, {tag("barrier", t)});
    m.at = tag("mad", t, 1);
    m.other = tag("mad", t, 0);
  });
  add("FIXPIPE waits for unit flags that no mad raises", FaultId::wait_without_set, [](const C& c, Random&, Mutant& m) {
    const std::string store = tag("store", c.tiles - 1);
    std::string text = m.program.lines[m.program.at(store)].text;
    const std::string off = ", 0, 0, 0, 0, 1";
    text.replace(text.find(off), off.size(), ", 3, 0, 0, 0, 1");
    m.program.replace(store, text);
    m.at = store;
  });
  add("mad waits for unit flags that FIXPIPE left up", FaultId::circular_wait, [](const C& c, Random&, Mutant& m) {
    const u32 t = c.tiles - 1;  // whose first mad raised them
    m.program.replace(tag("mad", t, 0), c.mad_text(0, c.l0(0), c.l0(0), 0) + ", 3");
    m.program.replace(tag("mad", t, 1), c.mad_text(0, c.l0(1), c.l0(1), 1) + ", 3");
    m.at = tag("mad", t, 1) + "|" + tag("c wait", t);
  });
  add("L1 left", FaultId::out_of_bounds, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles), k = below(r, 2);
    m.program.replace(tag("ca", t, k),
                      fmt::format("load_cbuf_to_ca 0x0, 0x0, {}, {}, 1, 0, 0", 129 - c.m1 + below(r, 50), c.m1));
    m.at = tag("ca", t, k);
  });
  add("L0A or L0B left", FaultId::out_of_bounds, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles), k = below(r, 2);
    const bool a = r() % 2 == 0;
    m.program.replace(tag(a ? "ca" : "cb", t, k),
                      fmt::format("load_cbuf_to_c{} {:#x}, 0x0, 0, {}, 1, 0, 0", a ? "a" : "b",
                                  0x4000 - 512 * below(r, 2), 2 + below(r, 4)));
    m.at = tag(a ? "ca" : "cb", t, k);
  });
  add("L0C left", FaultId::out_of_bounds, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles), k = below(r, 2);
    m.program.replace(tag("mad", t, k), c.mad_text(0x8000 - 1024 * below(r, c.m1 * c.n1), c.l0(k), c.l0(k), k));
    m.at = tag("mad", t, k);
  });
  add("misaligned fractal", FaultId::misaligned_access, [](const C& c, Random& r, Mutant& m) {
    const u32 t = below(r, c.tiles), k = below(r, 2);
    const u32 off = 32 * (1 + below(r, 15));
    const u32 which = below(r, 3);
    m.program.replace(tag("mad", t, k), c.mad_text(which == 0 ? off : 0, c.l0(k) + (which == 1 ? off : 0),
                                                   c.l0(k) + (which == 2 ? off : 0), k));
    m.at = tag("mad", t, k);
  });
  add("L1 read that was not loaded", FaultId::uninitialised_read, [](const C&, Random& r, Mutant& m) {
    const bool a = r() % 2 == 0;
    drop(m, {a ? "load a" : "load b"});
    m.at = a ? "ca 0 0" : "cb 0 0";
  });
  add("L0 read that was not loaded", FaultId::uninitialised_read, [](const C&, Random& r, Mutant& m) {
    const u32 k = below(r, 2);
    drop(m, {tag(r() % 2 == 0 ? "ca" : "cb", 0, k)});
    m.at = tag("mad", 0, k);
  });
  add("L0C read that was not written", FaultId::uninitialised_read, [](const C& c, Random&, Mutant& m) {
    m.program.replace("mad 0 0", c.mad_text(0, c.l0(0), c.l0(0), 1));  // accumulates on nothing
    m.at = "mad 0 0";
  });
  return out;
}

// -----------------------------------------------------------------------------------------------------------------------

bool one_of(const std::string& tags, const std::string& tag) {
  const std::string list = "|" + tags + "|";
  return list.find("|" + tag + "|") != std::string::npos;
}

std::string place_of(const isa::check::Site& s, const Lines& program) {
  return s.is_task() ? s.task : program.tag_of(s.line);
}

bool points_at(const isa::check::Finding& f, FaultId id, const Mutant& m) {
  if (f.id != id || f.message.empty()) return false;
  // Of two tasks or blocks that run at once, either may be named first.
  const auto matches = [&](const isa::check::Site& at, const std::optional<isa::check::Site>& other) {
    return one_of(m.at, place_of(at, m.program)) &&
           (m.other.empty() || (other && one_of(m.other, place_of(*other, m.program))));
  };
  if (matches(f.at, f.other)) return true;
  const bool symmetric =
      id == FaultId::block_overlap || id == FaultId::task_overlap || (id == FaultId::use_after_free && f.other);
  return symmetric && f.other && matches(*f.other, f.at);
}

TEST(Mutants, AllAreFoundWhereTheyAre) {
  std::vector<Class> classes = vector_classes();
  for (auto&& more : {stream_classes(), cube_classes()})
    classes.insert(classes.end(), more.begin(), more.end());
  EXPECT_GE(classes.size(), 25u);
  fmt::print("{:<58} {:<22} found\n", "class", "id");
  for (const Class& c : classes) {
    int found = 0;
    for (int i = 0; i < kMutants; ++i) {
      Random random(7919 * static_cast<u64>(i) + 17);
      const Mutant m = c.make(random);
      const Mode mode = i % 8 == 7 ? Mode::full : i % 8 == 6 ? Mode::timing : Mode::functional;
      const Checked seen = check(m.chip, m.stream, mode);
      const bool right = std::ranges::any_of(seen.findings, [&](const auto& f) { return points_at(f, c.id, m); });
      EXPECT_TRUE(right) << c.name << ", mutant " << i << ": " << name(c.id) << " at '" << m.at << "' with '" << m.other
                         << "' not among\n"
                         << seen.text() << m.program.text();
      found += right ? 1 : 0;
    }
    fmt::print("{:<58} {:<22} {}/{}\n", c.name, name(c.id), found, kMutants);
  }
}

}  // namespace
}  // namespace vinci::test
