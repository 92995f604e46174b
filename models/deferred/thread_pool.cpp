// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/deferred/thread_pool.h"

#include <algorithm>
#include <system_error>

#include "models/deferred/spin_wait.h"

namespace vinci::models {

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  posted_.notify_all();
  for (std::thread& t : helpers_)
    t.join();
}

// A process or a container may be at its limit of threads or of memory: then the threads that there are do all jobs.
// Half of them end, so that the others have the memory of their stacks to work with. None has a job yet.
void ThreadPool::start_helpers() {
  try {
    while (helpers_.size() < most_ && !refused_)
      helpers_.emplace_back([this, thread = static_cast<u32>(helpers_.size() + 1)] { help(thread); });
  } catch (const std::system_error&) {
    refused_ = true;
    keep_helpers(helpers_.size() / 2);
  }
}

void ThreadPool::keep_helpers(usize count) {
  {
    const std::lock_guard lock(mutex_);
    kept_ = count;
  }
  posted_.notify_all();
  for (usize i = count; i < helpers_.size(); ++i)
    helpers_[i].join();
  helpers_.resize(count);
}

void ThreadPool::post(Job& job) {
  start_helpers();
  {
    const std::lock_guard lock(mutex_);
    job.state_ = Job::State::waiting;
    waiting_.push_back(&job);
    offers_ = waiting_.size();
  }
  posted_.notify_one();
}

void ThreadPool::share(Job& job) {
  {
    const std::lock_guard lock(mutex_);
    shared_.push_back(&job);
    sharing_ = shared_.size();
  }
  posted_.notify_all();
  done_.notify_all();
}

bool ThreadPool::is_shared(const Job& job) const { return std::ranges::find(shared_, &job) != shared_.end(); }

// The lock is open while the job runs.
void ThreadPool::run_one(Job& job, u32 thread, std::unique_lock<std::mutex>& lock) {
  waiting_.erase(std::ranges::find(waiting_, &job));
  offers_ = waiting_.size();
  job.state_ = Job::State::running;
  job.threads_ = 1;
  lock.unlock();
  job.run(thread);
  lock.lock();
  leave(job);
}

void ThreadPool::join(Job& job, u32 thread, std::unique_lock<std::mutex>& lock) {
  ++job.threads_;
  lock.unlock();
  job.help(thread);
  lock.lock();
  leave(job);
}

// Who leaves has found nothing left to begin.
void ThreadPool::leave(Job& job) {
  std::erase(shared_, &job);
  sharing_ = shared_.size();
  if (--job.threads_ > 0) return;
  job.state_.store(Job::State::idle, std::memory_order_release);
  done_.notify_one();
}

void ThreadPool::finish(Job& job) {
  if (idle(job)) return;
  std::unique_lock lock(mutex_);
  while (!idle(job)) {
    if (job.state_ == Job::State::waiting) {
      run_one(job, 0, lock);
    } else if (is_shared(job)) {
      join(job, 0, lock);
    } else if (!waiting_.empty()) {
      run_one(*waiting_.front(), 0, lock);
    } else {
      lock.unlock();
      const bool soon = spin_wait([&] { return idle(job) || sharing_ != 0; });
      lock.lock();
      if (!soon) done_.wait(lock, [&] { return idle(job) || is_shared(job); });
    }
  }
}

void ThreadPool::help(u32 thread) {
  std::unique_lock lock(mutex_);
  while (true) {
    const auto ends = [&] { return ending_ || thread > kept_; };
    const auto something = [&] { return ends() || !waiting_.empty() || !shared_.empty(); };
    if (!something()) {
      lock.unlock();
      spin_wait([this] { return offers_ != 0 || sharing_ != 0; });
      lock.lock();
      posted_.wait(lock, something);
    }
    if (ends()) return;
    if (!waiting_.empty()) {
      run_one(*waiting_.front(), thread, lock);
    } else {
      join(*shared_.front(), thread, lock);
    }
  }
}

}  // namespace vinci::models
