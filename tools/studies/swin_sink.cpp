// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S02: the ten kernels of window attention sunk to the device as a model.
#include <fmt/format.h>

#include <algorithm>

#include "tools/studies/study.h"
#include "tools/studies/swin_streams.h"

namespace vinci::studies {
namespace {

using gen::Dispatch;

// Tasks that the host handed over: those of streams of no model.
double dispatches(const Run& run) {
  return static_cast<double>(std::ranges::count_if(run.result.tasks, [&](const models::TaskTime& t) {
    const auto stream = std::ranges::find(run.stream.streams, t.stream, &task::Stream::name);
    VINCI_CHECK(stream != run.stream.streams.end());
    return stream->model == task::kNone;
  }));
}

double gap_share(const Run& run, double us) { return 100 * (1 - run.kernel_us() / us); }

}  // namespace

void swin_sink(Study& study) {
  swin::require_joint_core(study);
  const swin::Data d = swin::make_data(study.whole("batch"));
  const gen::StreamFolder ten = swin::unfused(study.chip(), d), one = swin::fused(study.chip(), d);
  const Run eager_bits = study.run("eager", ten.files());
  const Run sunk_bits = study.run("sunk", ten.files(Dispatch::sunk));
  const std::vector<u16> eager_out = eager_bits.values<u16>("out"), sunk_out = sunk_bits.values<u16>("out");
  u64 different = 0;
  for (usize i = 0; i < eager_out.size(); ++i)
    different += eager_out[i] != sunk_out[i];

  const double launch = swin::calibrated_launch_us(eager_bits, study.number("unfused_us"));
  const config::ChipConfig slow = study.chip_with({fmt::format("host.launch={:.4f}us", launch)});
  const Run eager = study.time("eager-resident", ten.resident_files(), slow);
  const Run sunk = study.time("sunk-resident", ten.resident_files(Dispatch::sunk), slow);
  const Run fused = study.time("fused-resident", one.resident_files(), slow);
  const auto model = std::ranges::find(sunk.result.tasks, std::string_view("MODEL_EXECUTE"), &models::TaskTime::kind);
  VINCI_CHECK(model != sunk.result.tasks.end());
  const double sunk_us = sunk.us(model->end - model->start);
  study.fact("launch of the host", launch, "us");
  study.fact("eager: from the first to the last kernel", eager.kernel_span_us(), "us");
  study.fact("eager: gap share", gap_share(eager, eager.kernel_span_us()), "%");
  study.fact("sunk: the model", sunk_us, "us");
  study.fact("sunk: sum of the kernels", sunk.kernel_us(), "us");
  study.fact("fused: the kernel", fused.kernel_span_us(), "us");
  study.fact("sunk: bytes", static_cast<double>(sunk.gm_bytes()) * 1e-6, "MB");
  study.fact("fused: bytes", static_cast<double>(fused.gm_bytes()) * 1e-6, "MB");
  study.measured("eager_dispatches", dispatches(eager));
  study.measured("sunk_dispatches", dispatches(sunk));
  study.measured("sunk_kernels", static_cast<double>(sunk.kernels()));
  study.measured("different_elements", static_cast<double>(different));
  study.measured("gap_share", gap_share(sunk, sunk_us));
  study.measured("fused_speedup", sunk_us / fused.kernel_span_us());
}

}  // namespace vinci::studies
