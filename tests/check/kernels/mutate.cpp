// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/check/kernels/mutate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "isa/insns/sync.h"
#include "isa/program/loops.h"
#include "isa/table/codec.h"

namespace vinci::test {
namespace {

using isa::PipeId;
using isa::Role;
using Place = std::pair<u32, u32>;  // kernel, position

// The kernels of a launch, written out.
class Edited {
 public:
  explicit Edited(const OriginalKernel& o) : stream_(o.stream) {
    const auto& launch = std::get<task::KernelLaunch>(stream_.streams.front().tasks.back().op);
    kernels_ = launch.mix() ? std::vector{launch.kernel, launch.aiv_kernel} : std::vector{launch.kernel};
    for (const u32 k : kernels_) {
      isa::Program& p = stream_.kernels[k].program;
      p = isa::unfold(p);
      codes_.push_back(std::make_unique<isa::Code>(p));
      for (u32 i = 0; i < p.code.size(); ++i)
        all_.push_back({k, i});
    }
  }

  const std::vector<Place>& all() const { return all_; }
  isa::Inst at(const Place& p) const { return isa::decode(stream_.kernels[p.first].program.code[p.second]); }
  std::string line(const Place& p) const {
    for (usize i = 0; i < kernels_.size(); ++i)
      if (kernels_[i] == p.first) return codes_[i]->place(p.second);
    return "";
  }
  // Lines of instructions that are so.
  std::vector<std::string> lines(const std::function<bool(const isa::Inst&)>& is) const {
    std::set<std::string> out;
    for (const Place& p : all_)
      if (is(at(p))) out.insert(line(p));
    return {out.begin(), out.end()};
  }
  std::vector<Place> places(const std::string& line_text, const std::function<bool(const isa::Inst&)>& is) const {
    std::vector<Place> out;
    for (const Place& p : all_)
      if (line(p) == line_text && is(at(p))) out.push_back(p);
    return out;
  }
  void put(const Place& p, const isa::Inst& inst) {
    stream_.kernels[p.first].program.code[p.second] = isa::encode(inst);
  }
  // Leaves out, and adds copies in front of others: from, before.
  void change(const std::set<Place>& dropped, const std::multimap<Place, Place>& added) {
    for (const u32 k : kernels_) {
      task::Kernel& kernel = stream_.kernels[k];
      isa::Program old = kernel.program, now = old;
      now.code.clear();
      now.lines.clear();
      now.files.clear();
      std::vector<u32> position(old.code.size() + 1);
      const auto copy = [&](u32 i) {
        now.code.push_back(old.code[i]);
        now.lines.push_back(old.lines[i]);
        if (!old.files.empty()) now.files.push_back(old.files[i]);
      };
      for (u32 i = 0; i < old.code.size(); ++i) {
        position[i] = static_cast<u32>(now.code.size());
        const auto [first, last] = added.equal_range({k, i});
        for (auto a = first; a != last; ++a)
          copy(a->second.second);
        if (!dropped.contains({k, i})) copy(i);
      }
      position[old.code.size()] = static_cast<u32>(now.code.size());
      for (isa::Label& l : now.labels)
        l.index = position[l.index];
      for (u32& e : kernel.entries)
        e = position[e];
      kernel.program = std::move(now);
    }
  }
  task::TaskStream take() { return std::move(stream_); }

 private:
  task::TaskStream stream_;
  std::vector<u32> kernels_;
  std::vector<std::unique_ptr<isa::Code>> codes_;
  std::vector<Place> all_;
};

bool is_role(const isa::Inst& i, Role r) { return i.row->role == r; }
bool is_set(const isa::Inst& i) { return is_role(i, Role::set_flag); }
bool is_wait(const isa::Inst& i) { return is_role(i, Role::wait_flag); }
bool is_work(const isa::Inst& i) { return is_role(i, Role::work); }

template <class T>
const T& any_of(const std::vector<T>& list, Random& random) {
  return list[random() % list.size()];
}

// A flag, as pipes and event.
auto flag_of(const isa::Issued& i) {
  const auto& a = isa::args_of<isa::insn::SetFlag>(i.args);
  return std::tuple(a.src, a.dst, a.event);
}

u32 kernel_of(const OriginalKernel& o, const LegalSchedules::CoreLog& log) {
  const auto& launch = std::get<task::KernelLaunch>(o.stream.streams.front().tasks.back().op);
  return launch.mix() && log.self.part != 0 ? launch.aiv_kernel : launch.kernel;
}

// Waits that take what the sets of a line have raised, and those sets.
struct Pairs {
  std::set<Place> sets, waits;
  std::set<std::string> wait_lines;
};
Pairs pairs_of(const OriginalKernel& o, const std::string& set_line) {
  Pairs out;
  for (const auto& log : o.logs) {
    const u32 kernel = kernel_of(o, log);
    std::map<decltype(flag_of(log.entries[0].inst)), std::vector<const LegalSchedules::Entry*>> sets, waits;
    for (const auto& e : log.entries) {
      if (e.scalar) continue;
      if (e.inst.row->role == Role::set_flag) sets[flag_of(e.inst)].push_back(&e);
      if (e.inst.row->role == Role::wait_flag) waits[flag_of(e.inst)].push_back(&e);
    }
    for (const auto& [flag, list] : sets) {
      const auto& others = waits[flag];
      for (usize i = 0; i < list.size() && i < others.size(); ++i) {
        if (list[i]->place != set_line) continue;
        out.sets.insert({kernel, list[i]->inst.pc});
        out.waits.insert({kernel, others[i]->inst.pc});
        out.wait_lines.insert(others[i]->place);
      }
    }
  }
  return out;
}

std::optional<KernelMutant> no_flag(const OriginalKernel& o, Random& random) {
  Edited e(o);
  const auto lines = e.lines(is_set);
  if (lines.empty()) return {};
  const std::string& line = any_of(lines, random);
  const Pairs pairs = pairs_of(o, line);
  if (pairs.sets.empty()) return {};
  std::set<Place> dropped = pairs.sets;
  dropped.insert(pairs.waits.begin(), pairs.waits.end());
  e.change(dropped, {});
  return KernelMutant{.what = line + ": no set_flag and none of its waits", .stream = e.take()};
}

std::optional<KernelMutant> no_barrier(const OriginalKernel& o, Random& random) {
  Edited e(o);
  const auto is = [](const isa::Inst& i) { return is_role(i, Role::pipe_barrier); };
  const auto lines = e.lines(is);
  if (lines.empty()) return {};
  const std::string& line = any_of(lines, random);
  const auto places = e.places(line, is);
  e.change({places.begin(), places.end()}, {});
  return KernelMutant{.what = line + ": no pipe_barrier", .stream = e.take()};
}

std::optional<KernelMutant> no_set(const OriginalKernel& o, Random& random) {
  Edited e(o);
  const auto lines = e.lines(is_set);
  if (lines.empty()) return {};
  const std::string& line = any_of(lines, random);
  const auto places = e.places(line, is_set);
  e.change({places.begin(), places.end()}, {});
  return KernelMutant{.what = line + ": no set_flag", .stream = e.take()};
}

std::optional<KernelMutant> no_wait(const OriginalKernel& o, Random& random) {
  Edited e(o);
  const auto lines = e.lines(is_wait);
  if (lines.empty()) return {};
  const std::string& line = any_of(lines, random);
  const auto places = e.places(line, is_wait);
  e.change({places.begin(), places.end()}, {});
  return KernelMutant{.what = line + ": no wait_flag", .stream = e.take()};
}

// The next, or previous, instruction of work of a pipe; in the same kernel.
std::optional<Place> neighbour(const Edited& e, isa::Arch arch, const Place& from, PipeId pipe, int step) {
  for (i64 i = static_cast<i64>(from.second) + step; i >= 0; i += step) {
    const Place p{from.first, static_cast<u32>(i)};
    if (!std::ranges::binary_search(e.all(), p)) return {};
    const isa::Inst inst = e.at(p);
    if (inst.row->role == Role::end) return {};
    if (!is_work(inst)) continue;
    isa::ArgsStorage args;
    for (usize f = 0; f < inst.row->fields.size(); ++f)
      inst.row->fields[f].set(args, inst.operands[f].value);
    if (inst.row->set_type != nullptr) inst.row->set_type(args, inst.type);
    if (inst.row->pipe(args, arch) == pipe) return p;
  }
  return {};
}

std::optional<KernelMutant> late_wait(const OriginalKernel& o, Random& random) {
  Edited e(o);
  const auto lines = e.lines(is_wait);
  if (lines.empty()) return {};
  const std::string& line = any_of(lines, random);
  std::set<Place> dropped;
  std::multimap<Place, Place> added;
  for (const Place& p : e.places(line, is_wait)) {
    const auto pipe = static_cast<PipeId>(e.at(p).operands[1].value);
    const auto next = neighbour(e, o.stream.arch, p, pipe, 1);
    if (!next) continue;
    dropped.insert(p);
    added.emplace(Place{next->first, next->second + 1}, p);
  }
  if (dropped.empty()) return {};
  e.change(dropped, added);
  return KernelMutant{.what = line + ": wait_flag behind the next instruction", .stream = e.take()};
}

std::optional<KernelMutant> early_set(const OriginalKernel& o, Random& random) {
  Edited e(o);
  const auto lines = e.lines(is_set);
  if (lines.empty()) return {};
  const std::string& line = any_of(lines, random);
  std::set<Place> dropped;
  std::multimap<Place, Place> added;
  for (const Place& p : e.places(line, is_set)) {
    const auto pipe = static_cast<PipeId>(e.at(p).operands[0].value);
    const auto last = neighbour(e, o.stream.arch, p, pipe, -1);
    if (!last) continue;
    dropped.insert(p);
    added.emplace(*last, p);
  }
  if (dropped.empty()) return {};
  e.change(dropped, added);
  return KernelMutant{.what = line + ": set_flag before the instruction in front of it", .stream = e.take()};
}

std::optional<KernelMutant> two_sets(const OriginalKernel& o, Random& random) {
  Edited e(o);
  const auto lines = e.lines(is_set);
  if (lines.empty()) return {};
  const std::string& line = any_of(lines, random);
  std::multimap<Place, Place> added;
  for (const Place& p : e.places(line, is_set))
    added.emplace(p, p);
  e.change({}, added);
  return KernelMutant{.what = line + ": set_flag twice", .stream = e.take()};
}

// A copy into a core, other than the first one to its place, is left out: what reads it finds what was there before.
std::optional<KernelMutant> no_load(const OriginalKernel& o, Random& random) {
  Edited e(o);
  const auto is = [](const isa::Inst& i) {
    return i.row->name.starts_with("copy_gm_to_") || i.row->name.starts_with("load_gm_to_");
  };
  const auto lines = e.lines(is);
  if (lines.empty()) return {};
  const std::string& line = any_of(lines, random);
  const auto places = e.places(line, is);
  e.change({places.begin(), places.end()}, {});
  return KernelMutant{.what = line + ": no copy into the core", .stream = e.take()};
}

// Changes an address of all instructions of a line; `to` says what it becomes, or nothing.
using Readdress = std::function<std::optional<u64>(const isa::Access&, u64 buffer_bytes)>;
std::optional<KernelMutant> readdressed(const OriginalKernel& o, Random& random, std::string_view what, bool global,
                                        const Readdress& to) {
  Edited e(o);
  // By line: the operands, with what the instruction touches there.
  struct Candidate {
    Place place;
    usize field;
    u64 value;
  };
  std::map<std::string, std::map<std::pair<Place, usize>, u64>> by_line;
  for (const auto& log : o.logs) {
    const u32 kernel = kernel_of(o, log);
    for (const auto& entry : log.entries) {
      if (entry.scalar || entry.inst.row->role != Role::work) continue;
      const Place place{kernel, entry.inst.pc};
      const isa::Inst inst = e.at(place);
      const isa::Row& row = *entry.inst.row;
      for (const isa::Access& a : row.footprint(entry.inst.args, entry.inst.spr, o.stream.arch)) {
        if (a.empty() || (a.buffer == isa::BufId::GM) != global) continue;
        for (usize f = 0; f < row.fields.size(); ++f) {
          if (row.fields[f].name != a.operand || !row.fields[f].memory || inst.operands[f].is_reg) continue;
          const auto value = to(a, log.spec.sizes[index(a.buffer)]);
          if (value && row.fields[f].fits(*value)) by_line[entry.place][{place, f}] = *value;
        }
      }
    }
  }
  if (by_line.empty()) return {};
  auto chosen = by_line.begin();
  std::advance(chosen, random() % by_line.size());
  // One operand by its name, in all instructions of the line that have it.
  std::set<usize> fields;
  for (const auto& [key, value] : chosen->second)
    fields.insert(key.second);
  const usize field = any_of(std::vector<usize>(fields.begin(), fields.end()), random);
  for (const auto& [key, value] : chosen->second) {
    if (key.second != field) continue;
    isa::Inst inst = e.at(key.first);
    inst.operands[field].value = value;
    e.put(key.first, inst);
  }
  return KernelMutant{.what = fmt::format("{}: {}", chosen->first, what),
                      .stream = e.take(),
                      .rule = std::string(what),
                      .lines = {chosen->first}};
}

std::optional<KernelMutant> beyond_buffer(const OriginalKernel& o, Random& random) {
  return readdressed(o, random, "operand beyond its memory", false,
                     [](const isa::Access& a, u64 bytes) -> std::optional<u64> {
                       u64 extent = a.len;
                       for (usize d = 0; d < 3; ++d) {
                         if (a.stride[d] < 0) return {};
                         extent += static_cast<u64>(a.stride[d]) * (a.count[d] - 1);
                       }
                       if (extent <= a.align) return {};
                       return (bytes - extent / 2) / a.align * a.align;
                     });
}

std::optional<KernelMutant> misaligned(const OriginalKernel& o, Random& random) {
  const u64 shift = 2u << random() % 3;
  return readdressed(o, random, "misaligned operand", false, [shift](const isa::Access& a, u64) -> std::optional<u64> {
    if (a.align <= shift) return {};
    return a.address + shift;
  });
}

std::optional<KernelMutant> beyond_allocation(const OriginalKernel& o, Random& random) {
  return readdressed(o, random, "copy beyond global memory", true, [](const isa::Access& a, u64) -> std::optional<u64> {
    return (a.address + (u64{1} << 36)) & ((u64{1} << 48) - 1);
  });
}

std::optional<KernelMutant> large_event(const OriginalKernel& o, Random& random) {
  Edited e(o);
  const auto is = [](const isa::Inst& i) { return is_set(i) || is_wait(i); };
  const auto lines = e.lines(is);
  if (lines.empty()) return {};
  const std::string& line = any_of(lines, random);
  for (const Place& p : e.places(line, is)) {
    isa::Inst inst = e.at(p);
    inst.operands[2].value += 8;
    e.put(p, inst);
  }
  return KernelMutant{
      .what = line + ": event id of 8 and more", .stream = e.take(), .rule = "event id of 8 and more", .lines = {line}};
}

std::optional<KernelMutant> no_cross_core(const OriginalKernel& o, Random& random, Role role, std::string_view what) {
  Edited e(o);
  const auto is = [role](const isa::Inst& i) { return is_role(i, role); };
  const auto lines = e.lines(is);
  if (lines.empty()) return {};
  const std::string& line = any_of(lines, random);
  const auto places = e.places(line, is);
  e.change({places.begin(), places.end()}, {});
  return KernelMutant{.what = fmt::format("{}: {}", line, what), .stream = e.take()};
}

std::optional<KernelMutant> no_cross_set(const OriginalKernel& o, Random& random) {
  return no_cross_core(o, random, Role::cross_set, "no flag for other cores");
}
std::optional<KernelMutant> no_cross_wait(const OriginalKernel& o, Random& random) {
  return no_cross_core(o, random, Role::cross_wait, "no wait for other cores");
}

}  // namespace

std::vector<MutationClass> mutation_classes() {
  return {{"no flag", no_flag},
          {"no barrier", no_barrier},
          {"no set", no_set},
          {"no wait", no_wait},
          {"late wait", late_wait},
          {"early set", early_set},
          {"two sets", two_sets},
          {"no load", no_load},
          {"beyond buffer", beyond_buffer},
          {"misaligned", misaligned},
          {"beyond allocation", beyond_allocation},
          {"event id", large_event},
          {"no cross-core set", no_cross_set},
          {"no cross-core wait", no_cross_wait}};
}

}  // namespace vinci::test
