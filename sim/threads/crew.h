// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "isa/base/types.h"

namespace vinci::sim {

// Threads that take jobs off the thread of a simulation. Results must not depend on who runs a job, and when: jobs
// share nothing with each other, and the owner of a job waits for it before anything of it is looked at. The functions
// are for the owner's thread.
class Crew {
 public:
  class Job {
   public:
    virtual ~Job() = default;  // it is idle then
    virtual void run() = 0;    // does not throw

   private:
    friend class Crew;
    enum class State : u8 { idle, waiting, running };
    State state_ = State::idle;
  };

  // `helpers` threads besides the caller's, at most; they start with the first job.
  explicit Crew(u32 helpers) : most_(helpers) {}
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  bool has_helpers() const { return most_ > 0; }
  bool idle(const Job& job) {
    const std::lock_guard lock(mutex_);
    return job.state_ == Job::State::idle;
  }
  // Lets somebody run an idle job.
  void post(Job& job);
  // Returns when the job is idle, and helps meanwhile.
  void finish(Job& job);

 private:
  void help();
  void run_one(Job& job, std::unique_lock<std::mutex>& lock);

  u32 most_;
  std::mutex mutex_;
  std::condition_variable posted_, done_;
  std::deque<Job*> waiting_;
  bool ending_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace vinci::sim
