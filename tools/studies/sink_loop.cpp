// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S07: a training loop that the device counts by itself, with an exchange with the host after every L iterations.
#include "tools/studies/sink_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "tools/studies/stream_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

constexpr const char* kOp = "resize_bilinear";
constexpr std::array<u64, 7> kLengths{1, 2, 5, 10, 50, 100, 1000};

// The device counted right: so many iterations and executions of the model, and loop_cond is zero again.
bool counted_right(const Run& run, u64 steps, u64 length) {
  const auto executions =
      std::ranges::count(run.result.tasks, std::string_view("MODEL_EXECUTE"), &models::TaskTime::kind);
  return run.kernels() == steps && static_cast<u64>(executions) == steps / length &&
         run.values<i64>("last").front() == 0;
}

// D and H of T = D + H / L, by least squares.
struct Curve {
  double d = 0, h = 0;
};
Curve fit(const std::array<double, kLengths.size()>& times) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (usize i = 0; i < kLengths.size(); ++i) {
    const double inverse = 1 / static_cast<double>(kLengths[i]);
    x += inverse, y += times[i], xx += inverse * inverse, xy += inverse * times[i];
  }
  const double n = kLengths.size();
  const double h = (n * xy - x * y) / (n * xx - x * x);
  return {.d = (y - h * x) / n, .h = h};
}

}  // namespace

// The loop as GE builds it: variables loop_cond, iterations_per_loop, one and zero. At the end of an iteration,
// loop_cond < iterations_per_loop adds one and starts the body again, else loop_cond becomes zero and the graph ends;
// so iterations_per_loop holds one less than the length. A branch waits for `decided`, because it writes what both
// comparisons read.
task::BuiltStream sunk_loop(std::string name, const config::ChipConfig& chip, const SunkLoop& loop) {
  using enum task::Condition;
  VINCI_CHECK(loop.steps % loop.length == 0);
  task::StreamBuilder s(std::move(name), chip.arch);
  const std::array<i64, 2> values{static_cast<i64>(loop.length - 1), 1};
  const auto bytes = std::as_bytes(std::span(values));
  const task::BufferRef constants = s.host({.name = "constants", .data = {bytes.begin(), bytes.end()}});
  const task::BufferRef last = s.host({.name = "last", .output = "loop_cond.npy", .dtype = "i8", .shape = {1}});
  const task::BufferRef loop_cond = s.device("loop_cond", 8), zero = s.device("zero", 8);
  const task::BufferRef limits = s.device("limits", 16);  // iterations_per_loop, one
  const task::ModelRef train = s.model("train");
  task::StreamRef load = s.stream("load"), step = s.stream("step"), body = s.stream("body", {.model = train});
  task::StreamRef again = s.stream("again", {.model = train, .head = false});
  task::StreamRef done = s.stream("done", {.model = train, .head = false}), result = s.stream("result");
  const task::NotifyRef decided = s.notify("decided");
  load.memset(loop_cond, 0).memset(zero, 0).memcpy(limits, constants);
  step.execute(train);
  loop.body(s, body);
  body.add(task::StreamSwitch{loop_cond, limits, LESS, 8, again.index()})
      .add(task::StreamSwitch{loop_cond, limits, GREATER_OR_EQUAL, 8, done.index()})
      .record(decided);
  again.wait(decided).launch_cpu("AssignAdd", {loop_cond, limits + 8, 1, 9}).activate(body);
  done.wait(decided).launch_cpu("Assign", {loop_cond, zero, 1, 9}).end_graph(train);
  result.memcpy(last, loop_cond);
  task::ThreadRef main = s.thread("main");
  main.enqueue(load).synchronize(load);
  main.repeat(loop.steps / loop.length,
              [&] { main.compute(whole_nanoseconds(loop.exchange), "exchange").enqueue(step).synchronize(step); });
  main.enqueue(result);
  return s.finish();
}

void sink_loop(Study& study) {
  const config::ChipConfig& chip = study.chip();
  const u64 steps = study.whole("thousands") * 1000;
  const double per_step = 1 / static_cast<double>(steps);
  std::array<double, kLengths.size()> times{};
  u64 wrong = 0;
  for (usize i = 0; i < kLengths.size(); ++i) {
    const std::string name = fmt::format("length_{}", kLengths[i]);
    const double device = study.number("device") * per_step;
    const SunkLoop loop{
        .body = [&](task::StreamBuilder& s,
                    task::StreamRef body) { launch_all(body, chip, opaque_kernel(s, kOp, chip, device)); },
        .steps = steps,
        .length = kLengths[i],
        .exchange = study.number("host") * per_step};
    const Run run = study.run(name, sunk_loop(name, chip, loop));
    times[i] = run.seconds();
    study.fact(fmt::format("{} iterations for each exchange", kLengths[i]), times[i], "s");
    if (!counted_right(run, steps, kLengths[i])) ++wrong;
  }
  const Curve curve = fit(times);
  double worst = 0;
  for (usize i = 0; i < kLengths.size(); ++i)
    worst = std::max(worst, std::fabs((curve.d + curve.h / static_cast<double>(kLengths[i])) / times[i] - 1));
  study.fact("D, by least squares", curve.d, "s");
  study.fact("H, by least squares", curve.h, "s");
  study.measured("wrong_loops", static_cast<double>(wrong));
  study.measured("fit", 100 * worst);
  study.measured("not_sunk", times.front());
  study.measured("sunk", times.back());
  study.measured("gain_at_10", 100 * (times[0] - times[3]) / (times.front() - times.back()));
}

}  // namespace vinci::studies
