// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/processes/processes.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <thread>

#include "isa/base/error.h"
#include "sim/io/program.h"

namespace vinci::processes {
namespace {

struct Close {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, Close>;

// The number of the next piece of work, seen by all processes.
class SharedCounter {
 public:
  SharedCounter() : at_(::mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (at_ == MAP_FAILED) fail(Fault::Limit, "no memory to share between processes");
    new (at_) Counter(0);
  }
  ~SharedCounter() { ::munmap(at_, sizeof(Counter)); }
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;
  usize take() { return static_cast<Counter*>(at_)->fetch_add(1); }
  usize taken() const { return static_cast<const Counter*>(at_)->load(); }

 private:
  using Counter = std::atomic<usize>;
  static_assert(Counter::is_always_lock_free);
  void* at_;
};

// A record: number, size of the text, text.
void put(std::FILE* out, usize i, const std::string& text) {
  const usize head[2] = {i, text.size()};
  std::fwrite(head, sizeof head, 1, out);
  std::fwrite(text.data(), 1, text.size(), out);
}

usize collect(std::FILE* in, std::vector<std::string>& out) {
  usize seen = 0;
  if (std::fseek(in, 0, SEEK_SET) != 0) return seen;
  for (usize head[2]; std::fread(head, sizeof head, 1, in) == 1; ++seen) {
    std::string text(head[1], '\0');
    if (head[0] >= out.size() || std::fread(text.data(), 1, text.size(), in) != text.size()) break;
    out[head[0]] = std::move(text);
  }
  return seen;
}

constexpr int kRefused = 7, kDied = 1;  // exit codes of children

// What a child does; its exit code.
int work(SharedCounter& next, usize count, const std::function<std::string(usize)>& f, std::FILE* out) {
  try {
    for (usize i = next.take(); i < count; i = next.take())
      put(out, i, f(i));
  } catch (const std::bad_alloc&) {
    return kRefused;
  } catch (...) {
    return kDied;
  }
  return std::fflush(out) == 0 && std::ferror(out) == 0 ? 0 : kRefused;
}

// Whether the system ended a child, rather than a fault of its own: SIGKILL is what comes when memory is short.
bool is_refusal(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status) == kRefused;
  return WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGTERM);
}

std::vector<std::string> in_this_process(usize count, const std::function<std::string(usize)>& f,
                                         const std::function<void(usize)>& progress) {
  std::vector<std::string> out(count);
  for (usize i = 0; i < count; ++i) {
    if (progress) progress(i);
    out[i] = f(i);
  }
  if (progress) progress(count);
  return out;
}

}  // namespace

std::vector<std::string> in_processes(usize count, unsigned jobs, const std::function<std::string(usize)>& f,
                                      const std::function<void(usize)>& progress) {
  if (jobs <= 1 || count <= 1) return in_this_process(count, f, progress);
  std::vector<std::string> out(count);
  SharedCounter next;
  std::vector<File> files;
  std::vector<pid_t> children;
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  for (usize j = 0; j < std::min<usize>(jobs, count); ++j) {
    files.emplace_back(std::tmpfile());
    if (files.back() == nullptr) fail(Fault::Limit, "no room for a temporary file");
    const pid_t child = ::fork();
    if (child < 0) break;  // those that there are do all the work
    if (child > 0) {
      children.push_back(child);
      continue;
    }
    io::end_with_parent(parent);
    ::_exit(work(next, count, f, files.back().get()));
  }
  if (children.empty()) return in_this_process(count, f, progress);
  bool died = false, refused = false;
  for (const pid_t child : children) {
    int status = 0;
    pid_t ended = 0;
    while (progress && (ended = ::waitpid(child, &status, WNOHANG)) == 0) {
      progress(std::min(next.taken(), count));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    if (!progress) ended = ::waitpid(child, &status, 0);
    if (progress) progress(std::min(next.taken(), count));  // a signal that ended the child may have come here, too
    died |= ended != child || status != 0;
    refused |= ended == child && is_refusal(status);
  }
  usize seen = 0;
  for (const File& file : files)
    seen += collect(file.get(), out);
  if (refused) {
    fail(Fault::Limit,
         "a process that simulates was ended by a signal, or had no memory or no room for its temporary file; --jobs "
         "asks for fewer processes");
  }
  if (died || seen != count) fail(Fault::Internal, "a process that simulates ended before its work was done");
  return out;
}

}  // namespace vinci::processes
