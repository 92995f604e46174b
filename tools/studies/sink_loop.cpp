// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S07: a training loop that the device counts by itself, with an exchange with the host after every L iterations.
#include "tools/studies/sink_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/studies/entries.h"

namespace vinci::studies {
namespace {

constexpr std::string_view kOp = "resize_bilinear";
constexpr std::array<u64, 7> kLengths{1, 2, 5, 10, 50, 100, 1000};

// The loop as GE builds it: variables loop_cond, iterations_per_loop, one and zero. At the end of an iteration,
// loop_cond < iterations_per_loop adds one and starts the body again, else loop_cond becomes zero and the graph ends;
// so iterations_per_loop holds one less than the length. A branch waits for `decided`, because it writes what both
// comparisons read.
constexpr std::string_view kLoop = R"(buffers:
  constants: {{place: host, dtype: i8, shape: [2], data: "{constants}"}}
  last: {{place: host, dtype: i8, shape: [1], output: loop_cond.npy}}
  loop_cond: {{place: device, bytes: 8}}
  zero: {{place: device, bytes: 8}}
  limits: {{place: device, bytes: 16}} # iterations_per_loop, one
kernels:
{kernels}models:
  train: {{head: [body], streams: [again, done]}}
streams:
  load:
    - memset_async: {{dst: loop_cond, value: 0}}
    - memset_async: {{dst: zero, value: 0}}
    - memcpy_async: {{dst: limits, src: constants}}
  step:
    - model_execute: train
  body:
{body}    - stream_switch: {{value: loop_cond, cond: LESS, target: limits, dtype: i8, true_stream: again}}
    - stream_switch: {{value: loop_cond, cond: GREATER_OR_EQUAL, target: limits, dtype: i8, true_stream: done}}
    - notify_record: decided
  again:
    - notify_wait: decided
    - cpu_kernel_launch: {{kernel: AssignAdd, args: [loop_cond, {{buffer: limits, offset: 8}}, 1, 9]}}
    - stream_active: body
  done:
    - notify_wait: decided
    - cpu_kernel_launch: {{kernel: Assign, args: [loop_cond, zero, 1, 9]}}
    - model_end_graph: train
  result:
    - memcpy_async: {{dst: last, src: loop_cond}}
host:
  threads:
    main:
      - enqueue: load
      - synchronize_stream: load
      - repeat:
          times: {executions}
          steps:
            - compute: {{time: {exchange}, name: exchange}}
            - enqueue: step
            - synchronize_stream: step
      - enqueue: result
)";

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

gen::StreamFiles sunk_loop(std::string_view name, const config::ChipConfig& chip, const SunkLoop& loop) {
  VINCI_CHECK(loop.steps % loop.length == 0);
  const std::array<i64, 2> constants{static_cast<i64>(loop.length - 1), 1};
  return stream_text(
      name, chip,
      fmt::format(kLoop, fmt::arg("constants", hex_text(std::as_bytes(std::span(constants)))),
                  fmt::arg("kernels", loop.kernels), fmt::arg("body", loop.body),
                  fmt::arg("executions", loop.steps / loop.length), fmt::arg("exchange", time_text(loop.exchange))));
}

void sink_loop(Study& study) {
  const config::ChipConfig& chip = study.chip();
  const u64 steps = study.whole("thousands") * 1000;
  const double per_step = 1 / static_cast<double>(steps);
  std::array<double, kLengths.size()> times{};
  u64 wrong = 0;
  for (usize i = 0; i < kLengths.size(); ++i) {
    const std::string name = fmt::format("length_{}", kLengths[i]);
    const SunkLoop loop{.kernels = opaque_kernel(kOp, chip, study.number("device") * per_step),
                        .body = "    - " + opaque_launch(kOp, chip) + "\n",
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
