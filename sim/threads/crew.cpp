// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/threads/crew.h"

#include <algorithm>

namespace vinci::sim {

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  posted_.notify_all();
  for (std::thread& t : helpers_)
    t.join();
}

void Crew::post(Job& job) {
  while (helpers_.size() < most_)
    helpers_.emplace_back([this] { help(); });
  {
    const std::lock_guard lock(mutex_);
    job.state_ = Job::State::waiting;
    waiting_.push_back(&job);
  }
  posted_.notify_one();
}

// The lock is open while the job runs.
void Crew::run_one(Job& job, std::unique_lock<std::mutex>& lock) {
  waiting_.erase(std::ranges::find(waiting_, &job));
  job.state_ = Job::State::running;
  lock.unlock();
  job.run();
  lock.lock();
  job.state_ = Job::State::idle;
  done_.notify_one();
}

void Crew::finish(Job& job) {
  std::unique_lock lock(mutex_);
  while (job.state_ != Job::State::idle) {
    if (job.state_ == Job::State::waiting) {
      run_one(job, lock);
    } else if (!waiting_.empty()) {
      run_one(*waiting_.front(), lock);
    } else {
      done_.wait(lock);
    }
  }
}

void Crew::help() {
  std::unique_lock lock(mutex_);
  while (true) {
    posted_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    run_one(*waiting_.front(), lock);
  }
}

}  // namespace vinci::sim
