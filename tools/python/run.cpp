// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/python/run.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

namespace py = pybind11;

namespace vinci::python {
namespace {

// Needs no lock of Python.
std::optional<Failure> wait_for(vinci_run* run) {
  const vinci_status status = vinci_wait(run);
  if (status == VINCI_OK) return {};
  return Failure{status, vinci_last_error()};
}

// Does a run on a thread of its own, so that this one, Python's main thread, can handle signals.
class Waiting {
 public:
  explicit Waiting(vinci_run* run) : run_(run) {
    const py::gil_scoped_release others;
    try {
      thread_ = std::thread([this] { wait(); });
    } catch (const std::system_error&) {  // no thread to be had
      wait();
    }
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() {
    if (!thread_.joinable()) return;
    const py::gil_scoped_release others;
    thread_.join();
  }

  // Throws what a signal handler of Python throws, when the run has ended.
  std::optional<Failure> finish() {
    while (!done_in(std::chrono::milliseconds(20))) {
      if (PyErr_CheckSignals() == 0) continue;
      vinci_cancel(run_);
      throw py::error_already_set();
    }
    return failure_;
  }

 private:
  void wait() {
    std::optional<Failure> failure = wait_for(run_);
    const std::scoped_lock lock(mutex_);
    failure_ = std::move(failure);
    done_ = true;
    ended_.notify_one();
  }
  bool done_in(std::chrono::milliseconds time) {
    const py::gil_scoped_release others;
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, time, [this] { return done_; });
  }

  vinci_run* run_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::optional<Failure> failure_;
  std::thread thread_;
};

// Python calls signal handlers on its main thread only.
bool on_main_thread() {
  const py::module_ threading = py::module_::import("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

std::optional<Failure> wait_handling_signals(vinci_run* run) {
  if (on_main_thread()) return Waiting(run).finish();
  const py::gil_scoped_release others;
  return wait_for(run);
}

// Asks the array itself: a buffer cannot be had of every type of element.
bool is_of_numpy(const py::object& array) { return py::hasattr(array, "__array_interface__"); }

// What an array of numpy or a memoryview is a view of; None where it has its own memory.
py::object viewed(const py::object& array) {
  if (PyMemoryView_Check(array.ptr()) != 0) return array.attr("obj");
  return is_of_numpy(array) ? py::getattr(array, "base", py::none()) : py::none();
}

}  // namespace

CopyOut::CopyOut(const py::buffer& into)
    : array(into), bytes(into, true), staged(new std::byte[std::max<std::size_t>(1, bytes.size)]) {
  for (py::object at = viewed(into); !at.is_none(); at = viewed(at))
    if (is_of_numpy(at)) seen_through.emplace_back(at);
}

CopyOut::Place::Place(const py::object& of)
    : array(of),
      at(of.attr("__array_interface__")["data"][py::int_(0)].cast<std::uintptr_t>()),
      bytes(of.attr("nbytes").cast<std::size_t>()) {}

bool CopyOut::Place::is_same() const {
  const Place now(array);
  return now.at == at && now.bytes == bytes;
}

bool CopyOut::deliver() const {
  if (!std::ranges::all_of(seen_through, &Place::is_same)) return false;
  const Bytes present(array, true);
  if (present.info.ptr != bytes.info.ptr || present.size != bytes.size) return false;
  std::memcpy(present.info.ptr, staged.get(), present.size);
  return true;
}

void Run::wait() {
  std::optional<Failure> failure;
  try {
    failure = wait_handling_signals(get());
  } catch (const py::error_already_set&) {
    outs_.clear();
    throw;
  }
  const std::vector<CopyOut> outs = std::exchange(outs_, {});
  if (failure) throw Failure(*failure);
  bool whole = true;
  for (const CopyOut& out : outs)
    whole = out.deliver() && whole;
  if (!whole) throw Failure{VINCI_ERROR_INPUT, "the array of a copy_out() was resized before the run was done"};
}

std::uint64_t Run::counter(const std::string& path) const {
  std::uint64_t value = 0;
  must(vinci_run_counter(get(), c_text(path), &value));
  return value;
}

}  // namespace vinci::python
