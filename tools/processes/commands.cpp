// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/processes/commands.h"

#include <sys/wait.h>
#include <unistd.h>

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/io.hpp>
#include <system_error>

#include "isa/base/error.h"
#include "sim/io/program.h"

namespace vinci::processes {

namespace bp = boost::process;

struct Commands::Child {
  explicit Child(bp::child p) : process(std::move(p)) {}
  bp::child process;
};

Commands::Commands() = default;

Commands::~Commands() {
  std::error_code none;
  for (const auto& [id, child] : children_)
    child->process.terminate(none);
}

void Commands::start(usize id, const std::vector<std::string>& words, const std::string& log) {
  const std::vector<std::string> arguments(words.begin() + 1, words.end());
  const pid_t parent = ::getpid();
  std::error_code error;
  bp::child process(
      bp::exe = words.front(), bp::args = arguments, bp::std_in<bp::null, (bp::std_out & bp::std_err)> log,
      bp::extend::on_exec_setup = [parent](auto&) { io::end_with_parent(parent); }, error);
  if (error) fail(Fault::Limit, "cannot start {}: {}", words.front(), error.message());
  children_.emplace(id, std::make_unique<Child>(std::move(process)));
}

std::vector<Ended> Commands::ended() {
  std::vector<Ended> out;
  for (auto at = children_.begin(); at != children_.end();) {
    std::error_code none;
    if (at->second->process.running(none)) {
      ++at;
      continue;
    }
    const int status = at->second->process.native_exit_code();
    out.push_back({.id = at->first,
                   .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                   .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0});
    at = children_.erase(at);
  }
  return out;
}

}  // namespace vinci::processes
