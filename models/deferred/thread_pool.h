// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "isa/base/types.h"

namespace vinci::models {

// Threads that take jobs off the thread of a simulation. Results must not depend on which thread runs a job, and when:
// jobs share nothing with each other, and the owner of a job waits for it before it looks at the results. Only the
// owner's thread calls these functions, except share().
class ThreadPool {
 public:
  // Threads are numbered: 0 is the owner's.
  class Job {
   public:
    virtual ~Job() = default;             // it is idle then
    virtual void run(u32 thread) = 0;     // does not throw
    virtual void help(u32 /*thread*/) {}  // the same, while run() runs, of a job that is shared; until nothing is left

   private:
    friend class ThreadPool;
    enum class State : u8 { idle, waiting, running };
    std::atomic<State> state_ = State::idle;
    u32 threads_ = 0;  // that are at it
  };

  // `helpers` threads besides the caller's, at most; they start with the first job.
  explicit ThreadPool(u32 helpers) : most_(helpers) {}
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  bool has_helpers() const { return most_ > 0; }
  u32 threads() const { return most_ + 1; }
  // Helpers that are not there because the system refused to start one.
  u32 missing() const { return refused_ ? most_ - static_cast<u32>(helpers_.size()) : 0; }
  static bool idle(const Job& job) { return job.state_.load(std::memory_order_acquire) == Job::State::idle; }
  // Whether there are jobs that no thread has begun.
  bool has_waiting() const { return offers_.load(std::memory_order_relaxed) != 0; }
  // Lets any thread run an idle job.
  void post(Job& job);
  // Returns when the job is idle, and helps meanwhile.
  void finish(Job& job);
  // Called by a job that runs: threads without work may help with it.
  void share(Job& job);

 private:
  void start_helpers();
  void keep_helpers(usize count);
  void help(u32 thread);
  void run_one(Job& job, u32 thread, std::unique_lock<std::mutex>& lock);
  void join(Job& job, u32 thread, std::unique_lock<std::mutex>& lock);
  void leave(Job& job);
  bool is_shared(const Job& job) const;

  u32 most_;
  std::mutex mutex_;
  std::condition_variable posted_, done_;
  std::deque<Job*> waiting_, shared_;
  std::atomic<usize> offers_ = 0, sharing_ = 0;  // how many there are of them, for those who do not hold the lock
  bool ending_ = false, refused_ = false;
  usize kept_ = std::numeric_limits<usize>::max();  // helpers that go on
  std::vector<std::thread> helpers_;
};

}  // namespace vinci::models
