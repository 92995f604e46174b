// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <set>

#include "sim/task/check_parts.h"

namespace vinci::task {
namespace {

// Which tasks can be done at all, if the host hands over everything, events are never reset, a notify satisfies any
// number of waits and a jump goes to each of its labels. In truth less happens: what is stuck here is stuck in each
// run.
class Reach {
 public:
  explicit Reach(const TaskStream& s)
      : s_(s),
        streams_(s.streams.size()),
        happened_(s.events.size()),
        notified_(s.notifies.size()),
        models_(s.models.size()),
        comms_(s.comms.size()),
        label_task_(s.labels.size(), kNone) {
    for (u32 i = 0; i < s.streams.size(); ++i) {
      const Stream& stream = s.streams[i];
      streams_[i].tasks.resize(stream.tasks.size() + 1);
      if (stream.model != kNone && stream.head) models_[stream.model].heads.push_back(i);
      for (u32 t = 0; t < stream.tasks.size(); ++t) {
        if (const auto* label = std::get_if<LabelSet>(&stream.tasks[t].op)) label_task_[label->label] = t;
      }
    }
    for (u32 i = 0; i < s.streams.size(); ++i) {
      if (s.streams[i].model == kNone) start(i);
    }
    while (!ready_.empty()) {
      const At at = ready_.back();
      ready_.pop_back();
      step(at);
    }
  }

  bool started(u32 stream) const { return streams_[stream].started; }
  bool ended(u32 stream) const { return streams_[stream].tasks.back() != State::apart; }
  // The first task that waits for ever, or kNone.
  u32 stuck(u32 stream) const {
    const auto& tasks = streams_[stream].tasks;
    const auto it = std::find(tasks.begin(), tasks.end() - 1, State::reached);
    return it == tasks.end() - 1 ? kNone : static_cast<u32>(it - tasks.begin());
  }
  bool done(u32 stream, u32 task) const { return streams_[stream].tasks[task] == State::done; }
  bool arrived(u32 comm, u32 device) const { return comms_[comm].devices.contains(device); }

 private:
  struct At {
    u32 stream, task;
  };
  enum class State : u8 { apart, reached, done };
  struct StreamState {
    bool started = false;
    std::vector<State> tasks;  // and the end
  };
  struct Condition {
    bool holds = false;
    std::vector<At> waiting = {};
  };
  struct Model : Condition {
    bool begun = false;
    std::vector<u32> heads = {};
    usize heads_ended = 0;
  };
  struct Group : Condition {
    std::set<u32> devices = {};
  };

  void start(u32 stream) {
    if (streams_[stream].started) return;
    streams_[stream].started = true;
    reach({stream, 0});
  }

  void reach(At at) {
    State& state = streams_[at.stream].tasks[at.task];
    if (state != State::apart) return;
    state = State::reached;
    ready_.push_back(at);
  }

  void hold(Condition& c) {
    if (c.holds) return;
    c.holds = true;
    ready_.insert(ready_.end(), c.waiting.begin(), c.waiting.end());
    c.waiting.clear();
  }

  bool wait(Condition& c, At at) {
    if (!c.holds) c.waiting.push_back(at);
    return c.holds;
  }

  void step(At at) {
    const Stream& stream = s_.streams[at.stream];
    if (at.task == stream.tasks.size()) {
      if (stream.model == kNone || !stream.head) return;
      Model& model = models_[stream.model];
      if (++model.heads_ended == model.heads.size()) hold(model);
      return;
    }
    const auto& op = stream.tasks[at.task].op;
    if (!can_be_done(op, at)) return;
    streams_[at.stream].tasks[at.task] = State::done;
    const std::span<const u32> jumps = jumps_of(op);
    for (const u32 label : jumps)
      reach({at.stream, label_task_[label]});
    if (!jumps.empty()) return;
    carry_out(op);
    reach({at.stream, at.task + 1});
  }

  Condition& condition(const Signal& signal) { return (signal.is_notify() ? notified_ : happened_)[signal.index]; }

  bool can_be_done(const TaskOp& op, At at) {
    if (const auto signal = awaited_by(op)) return wait(condition(*signal), at);
    if (const auto* hccl = std::get_if<Hccl>(&op)) {
      Group& group = comms_[hccl->comm];
      group.devices.insert(s_.streams[at.stream].device);
      if (group.devices.size() == s_.comms[hccl->comm].devices.size()) hold(group);
      return wait(group, at);
    }
    if (const auto* execute = std::get_if<ModelExecute>(&op)) {
      Model& model = models_[execute->model];
      if (!model.begun) {
        model.begun = true;
        for (const u32 head : model.heads)
          start(head);
      }
      return wait(model, at);
    }
    return true;
  }

  void carry_out(const TaskOp& op) {
    if (const auto signal = recorded_by(op)) hold(condition(*signal));
    if (const auto* end = std::get_if<ModelEndGraph>(&op)) hold(models_[end->model]);
    if (const u32 stream = started_by(op); stream != kNone) start(stream);
  }

  const TaskStream& s_;
  std::vector<StreamState> streams_;
  std::vector<Condition> happened_, notified_;
  std::vector<Model> models_;
  std::vector<Group> comms_;
  std::vector<u32> label_task_;
  std::vector<At> ready_;
};

// Says why a stream is stuck: what it waits for, who could help, and what that one waits for in turn.
class Diagnosis {
 public:
  Diagnosis(Checks& checks, const Reach& reach)
      : c_(checks),
        s_(checks.s),
        reach_(reach),
        recorders_(s_.events.size()),
        notifiers_(s_.notifies.size()),
        enders_(s_.models.size()),
        executers_(s_.models.size()),
        starters_(s_.streams.size()) {
    for (u32 i = 0; i < s_.streams.size(); ++i) {
      for (u32 t = 0; t < s_.streams[i].tasks.size(); ++t) {
        if (!reach_.done(i, t)) enter(s_.streams[i].tasks[t].op, {i, t});
      }
    }
  }

  void report(u32 stream) {
    std::vector<Link> chain;
    std::vector<u32> place(s_.streams.size(), kNone);  // in the chain
    u32 next = stream;
    while (next != kNone && place[next] == kNone) {
      place[next] = static_cast<u32>(chain.size());
      chain.push_back(link(next));
      next = chain.back().next;
    }
    const bool circle = next != kNone;
    if (circle) {  // what leads to it does not matter
      chain.erase(chain.begin(), chain.begin() + place[next]);
      std::rotate(chain.begin(), std::ranges::min_element(chain, {}, &Link::stream), chain.end());
    }
    std::string text;
    for (usize k = 0; k < chain.size(); ++k) {
      if (k == kShown && chain.size() > kShown + 1) {
        text += fmt::format("; ... {} more streams", chain.size() - k);
        break;
      }
      text += (k == 0 ? "" : "; ") + chain[k].text;
    }
    Path path = Path{} / "streams" / chain[0].stream;
    if (chain[0].task != kNone) path = path / "tasks" / chain[0].task;
    c_.report(path, "{}: {}", circle ? "streams wait in a circle" : "a wait that nothing can satisfy", text);
  }

 private:
  static constexpr usize kShown = 8;

  struct Link {
    u32 stream = 0, task = kNone;
    std::string text = {};
    u32 next = kNone;  // the stream that would have to go on
  };

  // Of the tasks that are never done, the first in file order that would help.
  struct Helper {
    u32 stream = kNone, task = 0;

    bool exists() const { return stream != kNone; }
    void offer(Helper other) {
      if (!exists()) *this = other;
    }
  };

  void enter(const TaskOp& op, Helper at) {
    if (const auto signal = recorded_by(op)) helpers(*signal)[signal->index].offer(at);
    if (const auto* end = std::get_if<ModelEndGraph>(&op)) enders_[end->model].offer(at);
    if (const auto* execute = std::get_if<ModelExecute>(&op)) executers_[execute->model].offer(at);
    if (const u32 stream = started_by(op); stream != kNone) starters_[stream].offer(at);
    if (const auto* hccl = std::get_if<Hccl>(&op)) comers_.try_emplace({hccl->comm, s_.streams[at.stream].device}, at);
  }

  std::vector<Helper>& helpers(const Signal& signal) { return signal.is_notify() ? notifiers_ : recorders_; }
  const std::vector<Helper>& helpers(const Signal& signal) const {
    return signal.is_notify() ? notifiers_ : recorders_;
  }

  std::string task_text(u32 stream, u32 task) const {
    return fmt::format("task {} of stream '{}'", task, shown(s_.streams[stream].name));
  }
  std::string task_text(Helper at) const { return task_text(at.stream, at.task); }

  Link link(u32 stream) const {
    if (!reach_.started(stream)) return unstarted(stream);
    Link out{.stream = stream, .task = reach_.stuck(stream)};
    if (out.task == kNone) {
      out.text = fmt::format("stream '{}' never comes to its end", shown(s_.streams[stream].name));
      return out;
    }
    const auto& op = s_.streams[stream].tasks[out.task].op;
    std::string what;
    std::string_view does = "records";
    Helper who;
    if (const auto signal = awaited_by(op)) {
      what = fmt::format("{} '{}'", signal->is_notify() ? "notify" : "event",
                         shown((signal->is_notify() ? s_.notifies : s_.events)[signal->index]));
      who = helpers(*signal)[signal->index];
    } else if (const auto* hccl = std::get_if<Hccl>(&op)) {
      return collective(out, *hccl);
    } else {
      const u32 model = std::get<ModelExecute>(op).model;
      what = fmt::format("model '{}'", shown(s_.models[model]));
      does = "ends";
      who = enders_[model];
      if (!who.exists()) return endless(out, what, model);
    }
    out.text =
        fmt::format("{} waits for {}, which only {} {}", task_text(stream, out.task), what, task_text(who), does);
    return follow(out, who);
  }

  // Where nothing holds the helper up, no way leads to it.
  Link follow(Link out, Helper who) const {
    if (reach_.started(who.stream) && reach_.stuck(who.stream) == kNone) {
      out.text += fmt::format("; no way leads to {}", task_text(who));
    } else {
      out.next = who.stream;
    }
    return out;
  }

  Link unstarted(u32 stream) const {
    const Stream& s = s_.streams[stream];
    Helper who = starters_[stream];
    if (s.head && s.model != kNone) who.offer(executers_[s.model]);
    Link out{.stream = stream};
    if (!who.exists()) {
      out.text = fmt::format("no task starts stream '{}'", shown(s.name));
      return out;
    }
    out.text = fmt::format("only {} starts stream '{}'", task_text(who), shown(s.name));
    return follow(out, who);
  }

  Link endless(Link out, const std::string& what, u32 model) const {
    for (u32 i = 0; i < s_.streams.size(); ++i) {
      if (s_.streams[i].model == model && s_.streams[i].head && !reach_.ended(i)) out.next = std::min(out.next, i);
    }
    out.text = fmt::format("{} waits for {}, which nothing ends before stream '{}'", task_text(out.stream, out.task),
                           what, shown(s_.streams[out.next].name));
    return out;
  }

  Link collective(Link out, const Hccl& op) const {
    const Comm& comm = s_.comms[op.comm];
    const u32 absent = *std::ranges::find_if(comm.devices, [&](u32 d) { return !reach_.arrived(op.comm, d); });
    const auto comer = comers_.find({op.comm, absent});
    const Helper who = comer != comers_.end() ? comer->second : Helper{};
    out.text = fmt::format("{} waits for device {} in communicator '{}', ", task_text(out.stream, out.task), absent,
                           shown(comm.name));
    if (!who.exists()) {
      out.text += "where no task of it takes part";
      return out;
    }
    out.text += fmt::format("for which only {} comes", task_text(who));
    return follow(out, who);
  }

  Checks& c_;
  const TaskStream& s_;
  const Reach& reach_;
  std::vector<Helper> recorders_, notifiers_;     // by event, by notify
  std::vector<Helper> enders_, executers_;        // by model
  std::vector<Helper> starters_;                  // by stream
  std::map<std::pair<u32, u32>, Helper> comers_;  // by communicator and device
};

}  // namespace

void check_waits(Checks& checks) {
  const Reach reach(checks.s);
  for (u32 i = 0; i < checks.s.streams.size(); ++i) {
    // In a stream of a model a wait may be where no run comes.
    if (checks.s.streams[i].model != kNone || reach.ended(i)) continue;
    Diagnosis(checks, reach).report(i);
    return;
  }
}

}  // namespace vinci::task
