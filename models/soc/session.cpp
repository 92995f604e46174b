// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/soc/session.h"

#include "isa/census/origins.h"
#include "isa/shadow/shadow.h"
#include "models/soc/soc.h"
#include "sim/kernel/context.h"
#include "sim/kernel/run.h"
#include "sim/task/run_memory.h"

namespace vinci::models {

class Session::Impl {
 public:
  Impl(const config::ChipConfig& config, const task::TaskStream& stream, task::RunMemory& memory,
       const Options& options, Host host)
      : options_(options), memory_(memory), open_(host == Host::open) {
    const Present present(context_);
    soc_ = std::make_unique<Soc>(config, stream, memory, options_, sim::Clock(config.clock), nullptr,
                                 open_ ? HostThreads::Program::open : HostThreads::Program::complete);
  }
  ~Impl() {
    context_.enter();  // until the context itself has gone
    soc_.reset();
  }

  void run(bool to_end = false) {
    const Present present(context_);
    append();
    if (to_end) soc_->scheduler().complete_program();
    sim::Env& env = soc_->env();
    std::function<void()> look;
    if (options_.progress) {
      look = [&] {
        options_.progress(
            {.instructions = env.instructions, .cycles = env.agenda.now(), .fraction = soc_->done_fraction()});
      };
    }
    env.agenda.resume();
    try {
      sim::run(
          env, {.max_cycles = options_.max_cycles, .interrupted = options_.interrupted},
          [&] { return soc_->finished(); }, look);
      soc_->finish_data();
    } catch (const Error& e) {
      soc_->finish_data();  // a fault of what has retired before came first
      if (options_.checker != nullptr && e.fault() == Fault::Deadlock) options_.checker->finish();
      throw;
    }
  }

  std::optional<u64> run_until(u32 event) {
    soc_->scheduler().pause_at(event);
    run();
    soc_->scheduler().pause_at(task::kNone);
    return recorded(event);
  }

  Result finish() {
    run(true);
    if (options_.checker != nullptr) options_.checker->finish();
    const Present present(context_);
    if (options_.census != nullptr) in_order_of_streams(*options_.census);
    return soc_->take_result();
  }

  u64 now() {
    const Present present(context_);
    return soc_->env().agenda.now();
  }
  std::optional<u64> recorded(u32 event) const { return soc_->scheduler().recorded(event); }
  Result result() {
    const Present present(context_);
    return soc_->result();
  }

 private:
  void append() {
    if (!open_) return;
    memory_.append();
    soc_->append();
  }

  // Makes the context of the session the present one for a call.
  class Present {
   public:
    explicit Present(sim::Context& context) : context_(context) { context_.enter(); }
    ~Present() { context_.leave(); }
    Present(const Present&) = delete;
    Present& operator=(const Present&) = delete;

   private:
    sim::Context& context_;
  };

  // Reports name a task by its position in the finished task stream.
  void in_order_of_streams(isa::Census& census) const {
    const TaskNumbers& numbers = soc_->scheduler().numbers();
    if (numbers.in_order()) return;
    auto by_number = std::exchange(census.tasks, {});
    while (!by_number.empty()) {
      auto node = by_number.extract(by_number.begin());
      node.key() = numbers.position(node.key());
      census.tasks.insert(std::move(node));
    }
    for (isa::Shadow* shadow : {census.shadow.get(), census.what_if.get()}) {
      if (shadow != nullptr) shadow->renumber_tasks([&](u32 number) { return numbers.position(number); });
    }
    if (census.origins != nullptr) {
      census.origins->renumber_tasks([&](u32 number) { return numbers.position(number); });
    }
  }

  Options options_;
  task::RunMemory& memory_;
  bool open_;
  sim::Context context_;
  std::unique_ptr<Soc> soc_;
};

Session::Session(const config::ChipConfig& chip, const task::TaskStream& stream, task::RunMemory& memory,
                 const Options& options, Host host)
    : impl_(std::make_unique<Impl>(chip, stream, memory, options, host)) {}
Session::~Session() = default;

void Session::run() { impl_->run(); }
std::optional<u64> Session::run_until(u32 event) { return impl_->run_until(event); }
void Session::run_to_end() { impl_->run(true); }
u64 Session::now() const { return impl_->now(); }
std::optional<u64> Session::recorded(u32 event) const { return impl_->recorded(event); }
Result Session::result() { return impl_->result(); }
Result Session::finish() { return impl_->finish(); }

Result simulate(const config::ChipConfig& chip, const task::TaskStream& stream, task::RunMemory& memory,
                const Options& options) {
  return Session(chip, stream, memory, options, Session::Host::complete).finish();
}

}  // namespace vinci::models
