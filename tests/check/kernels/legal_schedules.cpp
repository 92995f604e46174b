// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/check/kernels/legal_schedules.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/insns/sync.h"
#include "models/core/core_spec.h"
#include "models/soc/block_shape.h"
#include "models/soc/functional.h"
#include "sim/task/run_memory.h"

namespace vinci::test {
namespace {

using isa::PipeId;
using isa::Role;
using Interval = LegalSchedules::Interval;
using Entry = LegalSchedules::Entry;

constexpr u64 kBlock = 4;      // who wrote what is known by so many bytes
constexpr u64 kShadowed = 32;  // to the checker, by these

void add(std::vector<Interval>& to, const isa::Access& a) {
  for (u32 k = 0; k < a.count[2]; ++k) {
    for (u32 j = 0; j < a.count[1]; ++j) {
      for (u32 i = 0; i < a.count[0]; ++i) {
        const u64 at = a.address + static_cast<u64>(i * a.stride[0] + j * a.stride[1] + k * a.stride[2]);
        if (!to.empty() && to.back().buffer == a.buffer && to.back().end == at) {
          to.back().end += a.len;
        } else {
          to.push_back({a.buffer, at, at + a.len});
        }
      }
    }
  }
}

bool meet(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  auto i = a.begin(), j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (i->buffer == j->buffer && i->begin < j->end && j->begin < i->end) return true;
    if (std::tuple(i->buffer, i->end) < std::tuple(j->buffer, j->end)) {
      ++i;
    } else {
      ++j;
    }
  }
  return false;
}

bool leaves_registers(std::string_view row) {
  for (const std::string_view start :
       {"vcmp", "vsel", "scatter_vcmp", "scatter_vsel", "set_cmpmask", "get_cmpmask", "vcadd", "vcmax", "vcmin",
        "vreduce", "vmrgsort", "vms4", "rpn", "viou", "vaadd"})
    if (row.starts_with(start)) return true;
  return false;
}

// What one core is given.
class Recorder final : public isa::Observer {
 public:
  Recorder(LegalSchedules::CoreLog& log, const isa::Code& code) : log_(log), code_(code) {}
  void watch(isa::Machine& machine) { machine_ = &machine; }

  void issued(const isa::Issued& inst) override { note(inst, false); }
  void accessed(const isa::Issued& inst) override {
    note(inst, true);
    pending_ = !log_.entries.back().writes.empty();
  }
  void executed(const isa::Issued& inst, const isa::BlockSet& computed) override {
    if (inst.row->computes == isa::Computes::nothing) return;
    const auto at = std::ranges::find_if(log_.entries.rbegin(), log_.entries.rend(),
                                         [&](const Entry& e) { return !e.scalar && e.inst.order == inst.order; });
    auto& to = inst.row->computes == isa::Computes::writes ? at->writes : at->reads;
    computed.each_run([&](u64 begin, u64 end) { to.push_back({isa::BufId::UB, begin, end}); });
    std::ranges::sort(to);
  }
  bool refused(const isa::Issued&, const Error&) override { return false; }
  void failed(u32, const isa::Issued*, const Error&) override {}
  void ended() override { settle(); }

 private:
  void settle() {
    if (!std::exchange(pending_, false)) return;
    Entry& e = log_.entries.back();
    for (const Interval& w : e.writes) {
      std::vector<std::byte> bytes(w.end - w.begin);
      if (w.buffer == isa::BufId::GM) {
        machine_->mem().gm().read(w.begin, bytes);
      } else {
        std::ranges::copy(machine_->mem()[w.buffer].bytes(w.begin, bytes.size()), bytes.begin());
      }
      e.stored.insert(e.stored.end(), bytes.begin(), bytes.end());
    }
  }
  void note(const isa::Issued& inst, bool scalar) {
    settle();
    Entry e{.inst = inst, .scalar = scalar, .place = code_.place(inst.pc)};
    if (inst.row->footprint != nullptr) {
      for (const isa::Access& a : inst.row->footprint(inst.args, inst.spr, code_.arch())) {
        if (a.empty()) continue;
        add(a.write ? e.writes : e.reads, a);
        if (a.atomic) add(e.reads, a);
      }
      std::ranges::sort(e.reads);
      std::ranges::sort(e.writes);
    }
    e.registers = leaves_registers(inst.row->name);
    log_.entries.push_back(std::move(e));
  }

  LegalSchedules::CoreLog& log_;
  const isa::Code& code_;
  isa::Machine* machine_ = nullptr;
  bool pending_ = false;
};

u64 mix(u64 h, u64 v) {
  h ^= v + 0x9e3779b97f4a7c15 + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccd;
}

}  // namespace

std::string_view name(Harm::Kind kind) {
  static constexpr auto kNames = enum_names<Harm::Kind>;
  return kNames[static_cast<usize>(kind)];
}

task::TaskStream in_one_stream(const task::TaskStream& stream) {
  task::TaskStream out = stream;
  if (stream.host.threads.size() > 1) fail(Fault::Unsupported, "several host threads");
  if (stream.devices > 1) fail(Fault::Unsupported, "several devices");
  task::Stream all{.name = "all"};
  std::vector<task::HostStep> steps;
  if (!stream.host.threads.empty()) {
    steps = stream.host.threads.front().steps;
  } else {
    for (u32 s = 0; s < stream.streams.size(); ++s)
      steps.push_back(task::HostEnqueue{.stream = s});
  }
  for (const task::HostStep& step : steps) {
    if (std::holds_alternative<task::HostRepeat>(step)) fail(Fault::Unsupported, "a host thread that repeats steps");
    const auto* enqueue = std::get_if<task::HostEnqueue>(&step);
    if (enqueue == nullptr) continue;
    const auto& tasks = stream.streams[enqueue->stream].tasks;
    for (u32 t = enqueue->first; t < tasks.size() && t - enqueue->first < enqueue->count; ++t)
      all.tasks.push_back(tasks[t]);
  }
  out.streams.clear();
  out.streams.push_back(std::move(all));
  out.host = {};
  out.places = {};
  return out;
}

task::TaskStream up_to(const task::TaskStream& stream, usize launch) {
  task::TaskStream out = stream;
  out.streams.front().tasks.resize(launch + 1);
  return out;
}

LegalSchedules::LegalSchedules(const config::ChipConfig& chip, const task::TaskStream& stream)
    : chip_(chip), stream_(stream) {
  memory_ = std::make_unique<task::RunMemory>(stream_, true);
  task::TaskStream before = stream_;
  before.streams.front().tasks.pop_back();
  models::run_functional(chip, before, *memory_, {});
  before_ = global();
  record(chip);
}

void LegalSchedules::record(const config::ChipConfig& chip) {
  codes_ = models::decode_kernels(stream_);
  const auto& launch = std::get<task::KernelLaunch>(stream_.streams.front().tasks.back().op);
  const models::BlockShape shape(chip, stream_, launch);
  shape_ = shape.task();
  shape_.resident = std::max(shape_.resident, shape_.blocks);
  const isa::Launch all{.block_num = launch.block_dim, .args = memory_->arguments(launch)};
  struct Running {
    models::BlockShape::Part part;
    isa::Launch launch;
    std::unique_ptr<Recorder> recorder;
    std::unique_ptr<isa::Machine> machine;
    bool done = false;
  };
  std::vector<Running> running_cores;
  logs_.resize(usize{launch.block_dim} * shape.parts());
  isa::CrossCoreFlags flags(shape_);
  for (u32 block = 0; block < launch.block_dim; ++block) {
    for (u32 n = 0; n < shape.parts(); ++n) {
      Running& r = running_cores.emplace_back();
      r.part = shape.part(block % shape.slots(), block, n);
      r.launch = shape.launch(all, r.part);
      CoreLog& log = logs_[running_cores.size() - 1];
      log.spec = models::core_spec(chip, r.part.kind);
      log.self = r.part.self;
      r.recorder = std::make_unique<Recorder>(log, *codes_[r.part.kernel]);
      r.machine = std::make_unique<isa::Machine>(log.spec, memory_->gm(), r.part.core);
      r.recorder->watch(*r.machine);
      r.machine->set_observer(r.recorder.get());
    }
  }
  for (Running& r : running_cores)
    r.machine->start(*codes_[r.part.kernel], r.launch, &flags, r.part.self);
  // A core that waits for ever has a log up to there, where each order of it gets stuck.
  u64 budget = 20'000'000;
  for (bool moved = true; moved;) {
    moved = false;
    for (Running& r : running_cores) {
      if (r.done) continue;
      const u64 before = budget;
      try {
        r.done = r.machine->advance(budget, 100'000) == isa::Machine::State::done;
      } catch (const Error& e) {
        if (e.fault() != Fault::Deadlock) throw;
        r.done = true;
      }
      moved |= r.done || budget != before;
    }
  }
  for (Running& r : running_cores) {
    if (!r.done) r.machine->fail_at_fault();
  }
  for (const CoreLog& log : logs_)
    size_ += log.entries.size();
}

std::vector<std::byte> LegalSchedules::global() const {
  std::vector<std::byte> out;
  for (u32 b = 0; b < stream_.buffers.size(); ++b) {
    const task::Buffer& buffer = stream_.buffers[b];
    if (buffer.place != task::Buffer::Place::device || !memory_->alive(b)) continue;
    const usize at = out.size();
    out.resize(at + buffer.bytes);
    memory_->gm().read(memory_->address({.buffer = b}), std::span(out).subspan(at));
  }
  return out;
}

std::vector<std::byte> LegalSchedules::bytes_of(u32 core, const std::vector<Interval>& where) const {
  std::vector<std::byte> out;
  for (const Interval& i : where) {
    const usize at = out.size();
    out.resize(at + (i.end - i.begin));
    const std::span<std::byte> to = std::span(out).subspan(at);
    if (i.buffer == isa::BufId::GM) {
      memory_->gm().read(i.begin, to);
    } else {
      std::ranges::copy((*cores_[core].mem)[i.buffer].bytes(i.begin, to.size()), to.begin());
    }
  }
  return out;
}

void LegalSchedules::fail_run(Harm::Kind kind, std::set<std::string> lines, std::string text) {
  failed_ = true;
  result_->kind = kind;
  result_->lines = std::move(lines);
  result_->text = std::move(text);
}

std::set<std::string> LegalSchedules::lines_of_flag(u32 core, PipeId src, PipeId dst, u32 event) const {
  std::set<std::string> out;
  for (const Entry& e : logs_[core].entries) {
    if (e.inst.row->role != Role::set_flag && e.inst.row->role != Role::wait_flag) continue;
    const auto& a = isa::args_of<isa::insn::SetFlag>(e.inst.args);
    if (a.src == src && a.dst == dst && a.event == event) out.insert(e.place);
  }
  return out;
}

bool LegalSchedules::may_overtake(const CoreLog& log, const std::deque<u32>& queue, usize at) const {
  const Entry& late = log.entries[queue[at]];
  if (late.inst.row->role != Role::work || late.registers || isa::unit_flag_use(late.inst, log.spec.arch)) return false;
  for (usize i = 0; i < at; ++i) {
    const Entry& early = log.entries[queue[i]];
    if (early.inst.row->role == Role::set_flag) continue;  // a pipe does not stop for it
    if (early.inst.row->role != Role::work || early.registers || isa::unit_flag_use(early.inst, log.spec.arch))
      return false;
    // It begins later, so what it writes is not read by the earlier one.
    if (meet(late.writes, early.reads)) return false;
    const isa::Row& row = *late.inst.row;
    if (&row == early.inst.row && row.forwards != nullptr && row.forwards(late.inst.args, log.spec.arch) &&
        row.forwards(early.inst.args, log.spec.arch))
      return false;
  }
  return true;
}

void LegalSchedules::execute(u32 core, u32 entry) {
  Core& c = cores_[core];
  const CoreLog& log = logs_[core];
  const Entry& e = log.entries[entry];
  if (watch_ != nullptr && watching_) {
    if (!watch_->at_end && watch_->stop == At{core, entry}) {
      watch_->read = bytes_of(core, e.reads);
      watching_ = false;
      return;
    }
    for (const Interval& w : e.writes) {
      const u32 owner = w.buffer == isa::BufId::GM ? 0 : core;
      for (u64 b = w.begin / kBlock; b * kBlock < w.end; ++b)
        watch_->writers[{owner, w.buffer, b}] = {core, entry};
    }
  }
  if (!result_->digests.empty()) {
    u64 h = 1;
    for (const std::byte b : bytes_of(core, e.reads))
      h = mix(h, static_cast<u64>(b));
    result_->digests[core][entry] = h;
    result_->order.push_back({core, entry});
  }
  if (e.scalar) {
    usize at = 0;
    for (const Interval& w : e.writes) {
      const auto bytes = std::span(e.stored).subspan(at, w.end - w.begin);
      at += bytes.size();
      if (w.buffer == isa::BufId::GM) {
        memory_->gm().write(w.begin, bytes);
      } else {
        std::ranges::copy(bytes, (*c.mem)[w.buffer].bytes(w.begin, bytes.size()).begin());
      }
    }
    return;
  }
  isa::ExecContext context{.mem = *c.mem,
                           .spr = e.inst.spr,
                           .arch = log.spec.arch,
                           .overflow = isa::overflow_of(log.spec, e.inst.spr),
                           .status = c.status,
                           .results = c.results,
                           .numerics = log.spec.numerics};
  try {
    e.inst.row->execute(e.inst.args, context);
  } catch (const Error& error) {  // such as an offset that is not there yet
    fail_run(Harm::Kind::fault, {e.place}, error.what());
  }
}

bool LegalSchedules::advance_scalar(u32 core) {
  Core& c = cores_[core];
  const CoreLog& log = logs_[core];
  if (c.next == log.entries.size()) return false;
  const Entry& e = log.entries[c.next];
  const auto index = static_cast<u32>(c.next);
  const auto& flag = isa::args_of<isa::insn::SetFlag>(e.inst.args);
  if (e.scalar) {
    execute(core, index);
  } else if (e.inst.row->role == Role::wait_flag && e.inst.pipe == PipeId::S) {
    if (!c.flags.up(flag.src, flag.dst, flag.event)) return false;
    c.flags.lower(flag.src, flag.dst, flag.event);
  } else if (e.inst.row->role == Role::set_flag && e.inst.pipe == PipeId::S) {
    if (c.flags.up(flag.src, flag.dst, flag.event)) {
      fail_run(Harm::Kind::duplicate_set, lines_of_flag(core, flag.src, flag.dst, flag.event), e.place);
      return true;
    }
    c.flags.raise(flag.src, flag.dst, flag.event);
  } else if (e.inst.row->role == Role::pipe_barrier && (e.inst.pipe == PipeId::ALL || e.inst.pipe == PipeId::S)) {
    if (e.inst.pipe == PipeId::ALL && std::ranges::any_of(c.queues, [](const auto& q) { return !q.empty(); }))
      return false;
  } else if (e.inst.row->role == Role::cross_wait) {
    if (!cross_->take(log.self, isa::args_of<isa::insn::WaitFlagDev>(e.inst.args).flag)) return false;
  } else {
    c.queues[isa::index(e.inst.pipe)].push_back(index);
  }
  ++c.next;
  return true;
}

bool LegalSchedules::advance_pipe(u32 core, usize pipe, Random* random, u32 overtaking) {
  Core& c = cores_[core];
  const CoreLog& log = logs_[core];
  auto& queue = c.queues[pipe];
  if (queue.empty()) return false;
  if (random != nullptr && overtaking != 0 && queue.size() > 1 && (*random)() % 8 < overtaking) {
    const usize at = 1 + (*random)() % std::min<usize>(queue.size() - 1, 6);
    if (may_overtake(log, queue, at)) {
      const u32 entry = queue[at];
      queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(at));
      execute(core, entry);
      return true;
    }
  }
  const u32 index = queue.front();
  const Entry& e = log.entries[index];
  const auto& flag = isa::args_of<isa::insn::SetFlag>(e.inst.args);
  switch (e.inst.row->role) {
    case Role::wait_flag:
      if (!c.flags.up(flag.src, flag.dst, flag.event)) return false;
      c.flags.lower(flag.src, flag.dst, flag.event);
      break;
    case Role::set_flag:
      if (c.flags.up(flag.src, flag.dst, flag.event)) {
        fail_run(Harm::Kind::duplicate_set, lines_of_flag(core, flag.src, flag.dst, flag.event), e.place);
        return true;
      }
      c.flags.raise(flag.src, flag.dst, flag.event);
      break;
    case Role::cross_set: {
      const isa::CrossCoreSet what =
          isa::CrossCoreSet::parse(isa::args_of<isa::insn::FftsCrossCoreSync>(e.inst.args).config);
      if (cross_->full(log.self, what)) return false;
      for (const isa::TaskCore& other : cross_->set(log.self, what))
        cross_->increment(other, what.flag);
      break;
    }
    case Role::pipe_barrier: break;  // everything before it has run
    default: {
      const auto unit = isa::unit_flag_use(e.inst, log.spec.arch);
      if (unit && !c.unit_flags.ready(*unit)) return false;
      execute(core, index);
      if (unit) c.unit_flags.finish(*unit);
    }
  }
  queue.pop_front();
  return true;
}

LegalSchedules::Result LegalSchedules::run(Random* random, u64 pattern, bool digests, Watch* watch) {
  Result result;
  result_ = &result;
  watch_ = watch;
  watching_ = watch != nullptr;
  failed_ = false;
  usize at = 0;
  for (u32 b = 0; b < stream_.buffers.size(); ++b) {
    const task::Buffer& buffer = stream_.buffers[b];
    if (buffer.place != task::Buffer::Place::device || !memory_->alive(b)) continue;
    memory_->gm().write(memory_->address({.buffer = b}), std::span<const std::byte>(before_).subspan(at, buffer.bytes));
    at += buffer.bytes;
  }
  cores_.clear();
  cores_.resize(logs_.size());
  cross_ = std::make_unique<isa::CrossCoreFlags>(shape_);
  if (digests) {
    for (const CoreLog& log : logs_)
      result.digests.emplace_back(log.entries.size());
  }
  for (usize i = 0; i < cores_.size(); ++i) {
    Core& c = cores_[i];
    c.mem = std::make_unique<isa::CoreMem>(logs_[i].spec.sizes, memory_->gm());
    // What local memories hold at first is not defined. Subnormals and small numbers: whatever is computed of them by
    // lanes that nothing looks at should not trap.
    for (const isa::BufId b : {isa::BufId::UB, isa::BufId::L1, isa::BufId::L0A, isa::BufId::L0B}) {
      if ((*c.mem)[b].size() == 0) continue;
      const auto bytes = (*c.mem)[b].bytes(0, (*c.mem)[b].size());
      std::ranges::fill(bytes, static_cast<std::byte>(0x30 + pattern % 16));
    }
    if (random == nullptr) continue;
    const auto weight = [&] { return 1u << 2 * ((*random)() % 4); };
    c.weight = weight();
    for (u32& w : c.weights)
      w = weight();
  }
  const u32 overtaking = random == nullptr ? 0 : static_cast<u32>((*random)() % 5);
  const u32 ahead = random == nullptr ? 1 : 1 + static_cast<u32>((*random)() % 4);  // weight of the scalar units
  usize idle = 0;
  std::vector<usize> live(cores_.size());
  for (usize i = 0; i < live.size(); ++i)
    live[i] = i;
  const auto finished = [&](const Core& c, const CoreLog& log) {
    return c.next == log.entries.size() && std::ranges::all_of(c.queues, [](const auto& q) { return q.empty(); });
  };
  while (!live.empty() && !failed_ && (watch == nullptr || watching_)) {
    bool moved = false;
    usize which = 0;
    if (random == nullptr || idle > 200) {
      // Everything that can go on, as far as it can.
      for (const usize core : live) {
        const auto id = static_cast<u32>(core);
        if (random == nullptr) {
          while (!failed_ && advance_scalar(id)) {
            moved = true;
            for (bool more = true; more && !failed_;) {
              more = false;
              for (usize p = 0; p < isa::kPipeCount; ++p)
                more |= advance_pipe(id, p, nullptr, 0);
            }
          }
        } else {
          moved |= advance_scalar(id);
        }
        for (usize p = 0; p < isa::kPipeCount && !failed_; ++p)
          moved |= advance_pipe(id, p, nullptr, 0);
      }
      if (!moved && !failed_) {
        std::erase_if(live, [&](usize i) { return finished(cores_[i], logs_[i]); });
        if (live.empty()) break;
        std::set<std::string> lines;
        std::string text;
        for (const usize i : live) {
          const Core& c = cores_[i];
          const auto note = [&](const Entry& e) {
            if (text.size() < 200) text += fmt::format("{} waits at {}; ", to_string(e.inst), e.place);
            lines.insert(e.place);
            if (e.inst.row->role == Role::wait_flag) {
              const auto& f = isa::args_of<isa::insn::SetFlag>(e.inst.args);
              lines.merge(lines_of_flag(static_cast<u32>(i), f.src, f.dst, f.event));
            }
          };
          if (c.next < logs_[i].entries.size()) note(logs_[i].entries[c.next]);
          for (const auto& q : c.queues)
            if (!q.empty()) note(logs_[i].entries[q.front()]);
        }
        fail_run(Harm::Kind::deadlock, lines, text);
      }
      idle = 0;
    } else {
      which = live[(*random)() % live.size()];
      Core& c = cores_[which];
      const auto id = static_cast<u32>(which);
      u32 sum = ahead * 16;
      for (usize p = 0; p < isa::kPipeCount; ++p)
        sum += c.queues[p].empty() ? 0 : c.weights[p];
      u64 pick = (*random)() % sum;
      if (pick < ahead * 16) {
        moved = advance_scalar(id);
      } else {
        pick -= ahead * 16;
        for (usize p = 0; p < isa::kPipeCount; ++p) {
          const u32 w = c.queues[p].empty() ? 0 : c.weights[p];
          if (pick < w) {
            moved = advance_pipe(id, p, random, overtaking);
            break;
          }
          pick -= w;
        }
      }
      idle = moved ? 0 : idle + 1;
    }
    if (moved && (random == nullptr || finished(cores_[which], logs_[which])))
      std::erase_if(live, [&](usize i) { return finished(cores_[i], logs_[i]); });
  }
  if (!failed_ && watch == nullptr) {
    for (usize i = 0; i < cores_.size() && !failed_; ++i) {
      for (const Entry& e : logs_[i].entries) {
        if (e.inst.row->role != Role::set_flag || e.scalar) continue;
        const auto& f = isa::args_of<isa::insn::SetFlag>(e.inst.args);
        if (!cores_[i].flags.up(f.src, f.dst, f.event)) continue;
        fail_run(Harm::Kind::left_over, lines_of_flag(static_cast<u32>(i), f.src, f.dst, f.event), e.place);
        break;
      }
    }
  }
  result.memory = global();
  result_ = nullptr;
  return result;
}

Harm LegalSchedules::explain(u64 schedule_seed, u64 pattern) {
  Harm harm{.kind = Harm::Kind::output, .lines = {}, .text = {}};
  const auto run_other = [&](bool digests, Watch* w) {
    Random random(schedule_seed);
    return run(&random, pattern, digests, w);
  };
  const Result in_order = run(nullptr, pattern, true), other = run_other(true, nullptr);
  const auto note = [&](const At& at) { harm.lines.insert(logs_[at.core].entries[at.entry].place); };
  // The first entry in the other order that read something else: what it read came by order alone.
  const auto victim = std::ranges::find_if(other.order, [&](const At& at) {
    return in_order.digests[at.core][at.entry] != other.digests[at.core][at.entry];
  });
  Watch here{.at_end = victim == other.order.end()};
  if (!here.at_end) here.stop = *victim;
  Watch there = here;
  run(nullptr, pattern, false, &here);
  run_other(false, &there);
  if (here.at_end) {  // the last writes of results changed places
    for (const auto& [block, at] : here.writers) {
      if (std::get<1>(block) != isa::BufId::GM) continue;
      const auto found = there.writers.find(block);
      if (found == there.writers.end() || found->second == at) continue;
      note(at);
      note(found->second);
    }
    harm.text = "writes of results";
    return harm;
  }
  const Entry& e = logs_[victim->core].entries[victim->entry];
  note(*victim);
  harm.text = fmt::format("{} ({}) reads otherwise", to_string(e.inst), e.place);
  usize at = 0;
  for (const Interval& i : e.reads) {
    const u32 owner = i.buffer == isa::BufId::GM ? 0 : victim->core;
    for (u64 b = i.begin; b < i.end; ++b, ++at) {
      if (here.read[at] == there.read[at]) continue;
      // A checker may name another writer of the same 32 bytes, whose value happens to be the same.
      for (const Watch* w : {&here, &there}) {
        for (u64 cell = b / kShadowed * kShadowed; cell < b / kShadowed * kShadowed + kShadowed; cell += kBlock) {
          const auto writer = w->writers.find({owner, i.buffer, cell / kBlock});
          if (writer != w->writers.end()) note(writer->second);
        }
      }
    }
  }
  return harm;
}

void LegalSchedules::note_differences(const Result& a, const Result& b, Harm& harm) const {
  std::set<At> both(a.order.begin(), a.order.end());
  for (const At& at : b.order) {
    if (both.contains(at) && a.digests[at.core][at.entry] != b.digests[at.core][at.entry])
      harm.lines.insert(logs_[at.core].entries[at.entry].place);
  }
}

Harm LegalSchedules::explain_contents() {
  Harm harm{.kind = Harm::Kind::contents, .lines = {}, .text = "what local memories held before"};
  note_differences(run(nullptr, 0, true), run(nullptr, 1, true), harm);
  return harm;
}

// What led to it: what read otherwise than in an order, or with local memories, without the fault.
Harm LegalSchedules::explain_fault(const Result& result, u64 schedule_seed, u64 pattern, bool in_order) {
  Harm harm{result.kind, result.lines, result.text};
  if (result.kind != Harm::Kind::fault) return harm;
  Random random(schedule_seed);
  const Result here = run(in_order ? nullptr : &random, pattern, true);
  note_differences(here, run(nullptr, in_order ? pattern + 1 : pattern, true), harm);
  return harm;
}

Harm LegalSchedules::find(u32 schedules, u64 seed) {
  std::array<std::vector<std::byte>, 2> expected;
  for (u64 pattern = 0; pattern < expected.size(); ++pattern) {
    Result in_order = run(nullptr, pattern, false);
    if (in_order.kind != Harm::Kind::none) return explain_fault(in_order, 0, pattern, true);
    expected[pattern] = std::move(in_order.memory);
  }
  if (expected[0] != expected[1]) return explain_contents();
  for (u32 s = 0; s < schedules; ++s) {
    const u64 schedule_seed = seed * 1000 + s, pattern = s % expected.size();
    Random random(schedule_seed);
    const Result other = run(&random, pattern, false);
    if (other.kind != Harm::Kind::none) return explain_fault(other, schedule_seed, pattern, false);
    if (other.memory != expected[pattern]) return explain(schedule_seed, pattern);
  }
  return {};
}

}  // namespace vinci::test
