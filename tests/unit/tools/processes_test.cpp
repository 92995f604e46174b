// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/processes/processes.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "isa/base/error.h"

namespace vinci::processes {
namespace {

// Starts a process that has two workers, who never end; gives its id and, through the pipe, those of the workers.
pid_t start_parent(int out) {
  const pid_t parent = ::fork();
  if (parent != 0) return parent;
  in_processes(2, 2, [out](usize) -> std::string {
    const pid_t me = ::getpid();
    if (::write(out, &me, sizeof me) != sizeof me) ::_exit(1);
    while (true)
      ::pause();
  });
  ::_exit(0);
}

// Whether a child of this process ends within a second.
bool ends(pid_t child) {
  for (int i = 0; i < 100; ++i) {
    if (::waitpid(child, nullptr, WNOHANG) == child) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class Workers : public testing::TestWithParam<int> {};

TEST_P(Workers, EndWithTheirParent) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // so that workers without parent become children of this process
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(::pipe(pipe_ends.data()), 0);
  const pid_t parent = start_parent(pipe_ends[1]);
  std::array<pid_t, 2> workers{};
  for (pid_t& worker : workers)
    ASSERT_EQ(::read(pipe_ends[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  ASSERT_EQ(::kill(parent, GetParam()), 0);
  EXPECT_TRUE(ends(parent));
  for (const pid_t worker : workers) {
    EXPECT_TRUE(ends(worker)) << worker;
    ::kill(worker, SIGKILL);  // nothing to do, unless the test has failed
  }
}

INSTANTIATE_TEST_SUITE_P(Signals, Workers, testing::Values(SIGTERM, SIGHUP, SIGINT, SIGKILL));

std::string fault_of(const std::function<std::string(usize)>& f) {
  try {
    in_processes(4, 2, f);
  } catch (const Error& e) {
    return std::string(fault_name(e.fault()));
  }
  return "";
}

TEST(Processes, SayWhetherTheSystemOrAFaultEndedThem) {
  EXPECT_EQ(fault_of([](usize) -> std::string { throw std::bad_alloc(); }), "limit");
  EXPECT_EQ(fault_of([](usize) -> std::string { return ::raise(SIGKILL) == 0 ? "" : "alive"; }), "limit");
  EXPECT_EQ(fault_of([](usize) -> std::string { ::_exit(1); }), "internal");
  EXPECT_EQ(fault_of([](usize) -> std::string { throw std::logic_error("a fault"); }), "internal");
  EXPECT_EQ(fault_of([](usize i) { return std::to_string(i); }), "");
}

}  // namespace
}  // namespace vinci::processes
