// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/notes.h"

#include <algorithm>

#include "sim/task/draft.h"

namespace vinci::task {
namespace {

// Of each kernel, model and stream, whether some task names it.
struct Used {
  explicit Used(const TaskStream& s) : kernels(s.kernels.size()), models(s.models.size()), started(s.streams.size()) {
    for (const Stream& stream : s.streams) {
      for (const Task& t : stream.tasks)
        enter(t);
    }
  }

  void enter(const Task& t) {
    if (const auto* launch = std::get_if<KernelLaunch>(&t.op)) {
      kernels[launch->kernel] = true;
      if (launch->mix()) kernels[launch->aiv_kernel] = true;
    }
    if (const auto* op = std::get_if<ModelExecute>(&t.op)) models[op->model] = true;
    if (const u32 stream = started_by(t.op); stream != kNone) started[stream] = true;
  }

  std::vector<bool> kernels, models, started;
};

}  // namespace

std::vector<std::string> notes(const TaskStream& s) {
  const Used used(s);
  std::vector<std::string> out;
  for (usize k = 0; k < s.kernels.size(); ++k) {
    if (!used.kernels[k]) out.push_back(fmt::format("kernel '{}' is never launched", shown(s.kernels[k].name)));
  }
  for (usize m = 0; m < s.models.size(); ++m) {
    if (!used.models[m]) out.push_back(fmt::format("model '{}' is never executed", shown(s.models[m])));
  }
  for (usize i = 0; i < s.streams.size(); ++i) {
    const Stream& stream = s.streams[i];
    if (stream.model == kNone || stream.head || used.started[i]) continue;
    out.push_back(fmt::format("stream '{}' is never started: no stream_switch or stream_active of model '{}' does",
                              shown(stream.name), shown(s.models[stream.model])));
  }
  return out;
}

}  // namespace vinci::task
