// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/io/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>

#include "isa/base/error.h"
#include "sim/io/input_file.h"

namespace vinci::io {

namespace {

// Where the standard output and the standard error of a program go: descriptors of this process, or -1 as here.
struct Streams {
  int out = -1, err = -1;
};

// The process, or nothing and errno where it could not be started.
std::optional<pid_t> start(std::vector<std::string>& words, Streams to) {
  std::vector<char*> argv;
  for (std::string& w : words)
    argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) return std::nullopt;
  if (to.out >= 0) ::posix_spawn_file_actions_adddup2(&actions, to.out, STDOUT_FILENO);
  if (to.err >= 0) ::posix_spawn_file_actions_adddup2(&actions, to.err, STDERR_FILENO);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  errno = error;
  return error == 0 ? std::optional(child) : std::nullopt;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

int run_program(std::vector<std::string> words, Stdout out) {
  const auto child = start(words, {.out = out == Stdout::to_stderr ? STDERR_FILENO : -1});
  if (!child && (errno == EAGAIN || errno == ENOMEM))
    fail(Fault::Limit, "cannot start {}: {}", words[0], reason(errno));
  return child ? wait_for(*child) : 127;
}

std::string output_of(std::vector<std::string> words, std::size_t most) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return {};
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const auto child = start(words, {.out = pipe[1], .err = nothing});
  ::close(pipe[1]);
  if (nothing >= 0) ::close(nothing);
  std::string text;
  std::array<char, 4096> part;
  while (child && text.size() < most) {
    const ssize_t n = ::read(pipe[0], part.data(), std::min(part.size(), most - text.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(n));
  }
  ::close(pipe[0]);  // a program that prints more ends by SIGPIPE
  if (child) wait_for(*child);
  return text;
}

// The parent may have ended before the kernel knew.
void end_with_parent(pid_t parent) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) ::_exit(1);
}

}  // namespace vinci::io
