// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/sweep/optimiser.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/io.hpp>
#include <nlohmann/json.hpp>
#include <system_error>

#include "isa/base/error.h"
#include "sim/io/program.h"
#include "tools/sweep/embedded.h"

namespace vinci::sweep {
namespace {

namespace bp = boost::process;
using nlohmann::json;

json axis_of(const Axis& a) {
  if (!a.values.empty()) return {{"key", a.key}, {"values", a.values}};
  return {{"key", a.key},   {"low", a.low},         {"high", a.high},
          {"step", a.step}, {"log", a.logarithmic}, {"whole", a.whole}};
}

// A Python that has Optuna: that of PATH, or else that of the system.
std::string python_with_optuna() {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const std::string path = io::output_of({python, "-c", "import optuna, sys; print(sys.executable, end='')"});
    if (path.starts_with('/')) return path;
  }
  fail(Fault::Unsupported, "optimise: needs Python's module optuna (Debian: apt install python3-optuna)");
}

std::string text_of(const json& value, const Axis& a) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return a.unit.empty() ? text : text + " " + a.unit;
}

}  // namespace

struct Optimiser::Process {
  std::vector<Axis> axes;
  bp::opstream questions;
  bp::ipstream answers;
  bp::child child;
};

Optimiser::Optimiser(const Optimise& what) : process_(std::make_unique<Process>()) {
  process_->axes = what.axes;
  json setup{{"seed", what.seed}, {"minimise", what.minimise.size()}, {"axes", json::array()}};
  for (const Axis& a : what.axes)
    setup["axes"].push_back(axis_of(a));
  const std::string script(embedded_files().front().text);
  const std::vector<std::string> words{"-c", script, setup.dump()};
  const pid_t parent = ::getpid();
  std::error_code error;
  process_->child = bp::child(
      bp::exe = python_with_optuna(), bp::args = words, bp::std_in<process_->questions, bp::std_out> process_->answers,
      bp::extend::on_exec_setup = [parent](auto&) { io::end_with_parent(parent); }, error);
  if (error) fail(Fault::Limit, "cannot start python3: {}", error.message());
}

Optimiser::~Optimiser() {
  process_->questions.pipe().close();  // the end of its input
  std::error_code none;
  process_->child.wait(none);
}

std::string Optimiser::answer(const std::string& question) {
  process_->questions << question << '\n' << std::flush;
  std::string line;
  if (!std::getline(process_->answers, line)) fail(Fault::Internal, "the optimiser ended before its work was done");
  return line;
}

std::vector<Optimiser::Trial> Optimiser::ask(usize count) {
  std::vector<Trial> out;
  for (const json& answer : json::parse(answer(json{{"ask", count}}.dump()))) {
    Trial t{.number = answer.at("number"), .point = {}};
    for (usize i = 0; i < process_->axes.size(); ++i)
      t.point.push_back({process_->axes[i].key, text_of(answer.at("values")[i], process_->axes[i])});
    out.push_back(std::move(t));
  }
  return out;
}

void Optimiser::tell(u64 number, const std::optional<std::vector<double>>& values) {
  answer(json{{"tell", number}, {"values", values ? json(*values) : json()}}.dump());
}

}  // namespace vinci::sweep
