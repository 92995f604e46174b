// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/links/collective_in_time.h"
#include "models/runtime/host_threads.h"
#include "models/runtime/streams.h"
#include "models/runtime/task_sink.h"
#include "models/soc/block_dispatcher.h"
#include "models/soc/chip.h"
#include "models/soc/engines.h"
#include "models/soc/host_link.h"
#include "sim/kernel/later.h"

namespace vinci::models {

// Streams and host threads in time, for all devices. What ends at a known cycle is announced; cores report by
// themselves that a block has ended.
class TaskScheduler : public sim::Module, private Carrier {
 public:
  struct Sink {
    TaskSink& tasks;
    bool sums = false;            // whether it wants to know what the cores did
    CauseSink* causes = nullptr;  // gets why each kernel took its time; may be null
  };
  // `chips` by device; `checker` and `host_link` may be null. Launches that equal earlier ones are not simulated again
  // where they end by the cycle `recall_until` (EqualLaunches); 0: each one is.
  TaskScheduler(sim::Env& env, const config::ChipConfig& config, const task::TaskStream& stream,
                task::RunMemory& memory, const std::vector<std::unique_ptr<Chip>>& chips, stats::Group& stats,
                isa::check::Checker* checker, Sink sink, HostLink* host_link, u64 recall_until,
                HostThreads::Program program = HostThreads::Program::complete);

  // What the task stream has gained at its end takes part from now on. Not while modules act.
  void append();
  // The host program is complete (HostThreads).
  void complete_program() { host_.complete(); }
  // Pauses the agenda when a record of this event is over; task::kNone: of none.
  void pause_at(u32 event) { awaited_ = event; }
  // The cycle in which the latest record of an event was over.
  std::optional<u64> recorded(u32 event) const { return event < recorded_.size() ? recorded_[event] : std::nullopt; }
  const TaskNumbers& numbers() const { return effects_.numbers(); }
  // See TaskEffects.
  void count(isa::Census* census) { effects_.count(census); }

  bool finished() const { return streams_.idle() && host_.finished(); }
  // Launches that were not simulated again, and their multiply-accumulates.
  u64 equal_launches() const;
  u64 equal_cube_macs() const;
  // When the last task or host step was over.
  u64 end() const { return end_; }
  // Cycles in which at least one kernel was under way.
  u64 kernel_cycles() const { return kernel_cycles_; }
  // Of these, of cold starts, each as long as that of its slowest block; those that overlap count once.
  u64 cold_cycles() const { return cold_cycles_; }
  // Of the kernel blocks and other tasks that the host program enqueues.
  double done_fraction() const;

 private:
  struct Device final : private LaunchOwner {
    Device(TaskScheduler& s, Chip& chip, u32 device, u64 recall_until);

    void later(u64 at, u32 stream, u32 core) override;
    void ends_as_before(u64 at, u32 stream) override { scheduler.later(at, What::kernel_as_before, stream); }
    void freed() override { scheduler.wake(); }
    void done(u32 stream) override;

    TaskScheduler& scheduler;
    u64 tasks = 0;
    Engines engines;
    std::array<trace::TrackId, Engines::kLaneNames.size()> lanes{};
    std::map<u32, trace::TrackId> threads;  // of the AICPU, those that have worked
    std::optional<EqualLaunches> equal;
    BlockDispatcher blocks;
  };
  enum class What : u8 { task, kernel_ready, kernel_as_before, block, host, collective, transfer, host_copy };
  struct Event {
    What what = What::task;
    u32 id = 0;               // stream, host thread or collective
    u32 part = 0;             // core of a block, transfer of a collective
    bool same_cycle = false;  // it was announced in the cycle in which it happens
  };
  using Events = sim::Later<Event, TaskScheduler>;
  friend Events;
  struct RunningCollective {
    CollectiveInTime time;
    std::vector<u32> streams;  // by rank
    u32 left = 0;              // ranks that are not done
  };
  struct HostCopy {     // through the host link
    bool due = false;   // the link itself would be done
    bool over = false;  // all bytes are there
    u64 end = 0;        // not before
  };
  struct HostState {
    std::optional<HostThreads::Step> step;  // that it spends time on
    u64 since = 0;
    trace::TrackId track = 0;
  };

  void act() override;
  bool happen(const Event& event);
  void carry_out(const Event& event);
  void later(u64 at, What what, u32 id, u32 part = 0);

  // Carrier
  u64 now() const override { return env_.agenda.now(); }
  bool begin(u32 stream) override;
  void ended(u32 stream) override;
  void wake_host(u32 thread) override { later(now(), What::host, thread); }
  bool host_waits() const override { return hosts_due_ == 0; }
  bool timed() const override { return true; }

  bool begin_job(u32 stream, const Engines::Job& job);
  bool begin_aicpu(u32 stream, const task::CpuKernelLaunch& op);
  void show(u32 stream, const Engines::Job& job, u64 queued);
  void show_links();
  std::string group_of(u32 device) const;  // of lanes of the timeline
  bool begin_copy(u32 stream, const task::MemcpyAsync& op);
  void host_copy_due(u32 stream);
  bool begin_control(u32 stream, u64 least);
  template <class Op>
  u64 least_cycles(const Op& op) const;
  bool begin_collective(u32 stream);
  void carry_on(u32 collective, u32 transfer, bool begin);
  void kernel_ready(u32 stream);
  void explain(u32 stream, KernelLog& log);
  void go_on(u32 thread);
  void next_step(u32 thread);
  void add_tracks();
  u64 cycles_of(const HostThreads::Step& step) const;
  Device& device_of(u32 stream) { return devices_[stream_.streams[stream].device]; }

  const config::ChipConfig& config_;
  const task::TaskStream& stream_;
  task::RunMemory& memory_;
  TaskEffects effects_;
  Streams streams_;
  HostThreads host_;
  Links links_;
  KernelCodes codes_;
  std::deque<Device> devices_;
  std::vector<u64> starts_;  // by stream: when the present task began
  std::vector<u32> hosts_;   // by stream: the host thread that handed over its latest task
  std::vector<HostState> threads_;
  std::optional<u32> out_of_steps_;           // host thread for whose next step everything waits
  u32 awaited_ = task::kNone;                 // event
  std::vector<std::optional<u64>> recorded_;  // by event
  Sink sink_;
  HostLink* host_link_;
  std::vector<HostCopy> host_copies_;  // by stream
  Events events_;
  u64 hosts_due_ = 0;                   // events of host threads
  u64 same_cycle_due_ = 0;              // of the present cycle, announced in it
  u64 happened_ = 0, happened_at_ = 0;  // events so far in this cycle
  u64 task_start_, task_completion_, control_;
  std::vector<trace::TrackId> tracks_;    // by stream
  std::map<Link, trace::TrackId> wires_;  // those that were used
  std::map<u32, RunningCollective> collectives_;
  u32 next_collective_ = 0;
  u64 end_ = 0, control_units_ = 0;
  u64 kernels_ = 0, kernels_since_ = 0, kernel_cycles_ = 0;
  u64 cold_cycles_ = 0, cold_until_ = 0;
  u64 host_busy_ = 0;
};

}  // namespace vinci::models
