// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S24: the all-reduce of gradients at the end of a step, and how much of it backward hides: buckets and overlap.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "isa/base/random.h"
#include "sim/config/load.h"
#include "tools/studies/resnet50.h"
#include "tools/studies/stream_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

// Backward as a list of kernels; gradients become known in this order, which is also that in their one allocation.
struct Kernel {
  std::string name;
  double seconds = 0;
  std::vector<u64> gradients;  // elements of the tensors that are known when it is done
};

// A convolution takes twice the work of forward, for the gradients of weights and of data, at a share of the peak of
// the cube; normalisation and ReLU go through their activations in f16 five times, at the bandwidth of global memory.
std::vector<Kernel> backward(const config::ChipConfig& chip, u64 images, double efficiency, u64 divisor) {
  constexpr u64 kPasses = 5, kF16 = 2;
  const double flops = config::summarize(chip).peak_fp16_tflops * 1e12 * efficiency;
  const std::vector<Resnet50Layer> layers = resnet50();
  std::vector<Kernel> out;
  for (usize i = layers.size(); i-- > 0;) {
    const Resnet50Layer& l = layers[i];
    std::vector<u64> sizes = l.tensors();
    for (u64& n : sizes)
      n = ceil_div(n, divisor);
    const double products = i == 0 ? 1 : 2;  // the gradient of the images is not needed
    const double seconds = products * 2 * static_cast<double>(l.macs() * images) / flops;
    if (!l.classifier) {
      const double bytes = static_cast<double>(kPasses * kF16 * l.results() * images);
      out.push_back({fmt::format("bn_{}", i), bytes / chip.memory.hbm.bandwidth, {sizes[1], sizes[2]}});
      sizes.resize(1);
    }
    out.push_back({fmt::format("{}_{}", l.classifier ? "fc" : "conv", i), seconds, sizes});
  }
  return out;
}

// Consecutive gradients that are reduced together.
struct Bucket {
  usize kernel = 0;          // position of the one that completes it
  u64 first = 0, count = 0;  // elements
};

// A bucket is closed by the tensor with which it has `bytes`; tensors are not split.
std::vector<Bucket> buckets_of(const std::vector<Kernel>& kernels, u64 bytes) {
  std::vector<Bucket> out{{}};
  for (usize k = 0; k < kernels.size(); ++k) {
    for (const u64 n : kernels[k].gradients) {
      Bucket& last = out.back();
      last.kernel = k;
      last.count += n;
      if (last.count * sizeof(float) >= bytes) out.push_back({.kernel = k, .first = last.first + last.count});
    }
  }
  if (out.back().count == 0) out.pop_back();
  return out;
}

struct Exchange {
  std::string name = {};
  u64 devices = 1;
  std::vector<Bucket> buckets = {};
  bool overlap = true;                             // else the first all-reduce waits for the end of backward
  std::vector<std::vector<float>> gradients = {};  // by device; with them, results go to files sum<device>.npy
};

// On each device a model of two streams: backward, and the one stream of all-reduces.
task::BuiltStream task_stream(const config::ChipConfig& chip, const std::vector<Kernel>& kernels, const Exchange& x) {
  const u64 all = x.buckets.back().first + x.buckets.back().count;
  const usize last = x.buckets.size() - 1;
  task::StreamBuilder s(x.name, chip.arch, static_cast<u32>(x.devices));
  std::vector<task::KernelRef> opaque;
  for (const Kernel& k : kernels)
    opaque.push_back(opaque_kernel(s, k.name, chip, k.seconds));
  const task::CommRef world = s.world();
  for (u32 d = 0; d < x.devices; ++d) {
    const task::BufferRef g = s.device(fmt::format("g{}_dev", d), all * sizeof(float), d);
    const task::ModelRef step = s.model(fmt::format("step{}", d));
    task::StreamRef compute = s.stream(fmt::format("backward{}", d), {.device = d, .model = step});
    std::vector<task::EventRef> ready;
    for (usize k = 0, b = 0; k < kernels.size(); ++k) {
      launch_all(compute, chip, opaque[k]);
      for (; b < x.buckets.size() && x.buckets[b].kernel == k; ++b)
        compute.record(ready.emplace_back(s.event(fmt::format("ready{}_{}", d, b))));
    }
    task::StreamRef exchange = s.stream(fmt::format("exchange{}", d), {.device = d, .model = step});
    for (usize b = 0; b <= last; ++b) {
      if (x.overlap || b == 0) exchange.wait(ready[x.overlap ? b : last]);
      const task::BufferRef part = g + x.buckets[b].first * sizeof(float);
      exchange.add(task::Hccl{.comm = world.index, .send = part, .recv = part, .count = x.buckets[b].count},
                   fmt::format("AR_{}", b + 1));
    }
    task::StreamRef main = s.stream(fmt::format("main{}", d), {.device = d});
    if (x.gradients.empty()) {
      main.execute(step);
    } else {
      const task::BufferRef in = s.host_data<float>(fmt::format("g{}", d), "f4", x.gradients[d]);
      const std::string name = fmt::format("sum{}", d);
      const task::BufferRef sum = s.host({.name = name, .output = name + ".npy", .dtype = "f4", .shape = {all}});
      main.memcpy(g, in).execute(step).memcpy(sum, g);
    }
    s.thread(fmt::format("main{}", d)).enqueue(main);
  }
  return s.finish();
}

// Times of a step in seconds from its beginning.
struct Times {
  double backward = 0;          // its end
  double exchange = 0;          // the end of the last all-reduce
  std::vector<double> ready;    // by bucket: the end of the kernel that completes it
  std::vector<double> lengths;  // by bucket: from when the last device has come until the last one is done

  double exposed() const { return exchange - backward; }
  // If the all-reduces run one after the other, each when its bucket is ready: the ones behind the one that waited
  // longest follow it without a gap.
  double expected(const std::vector<double>& alone) const {
    double end = 0;
    for (usize b = 0; b < ready.size(); ++b)
      end = std::max(end, ready[b]) + alone[b];
    return std::max(0.0, end - backward);
  }
};

Times times_of(const Run& run, const std::vector<Kernel>& kernels, const Exchange& x) {
  Times out{.ready = std::vector<double>(x.buckets.size()), .lengths = std::vector<double>(x.buckets.size())};
  std::vector<usize> kernel_of(x.devices), bucket_of(x.devices);
  std::vector<double> starts(x.buckets.size()), ends(x.buckets.size()), kernel_ends(kernels.size());
  for (const models::TaskTime& t : run.result.tasks) {
    const double start = run.us(t.start) * 1e-6, end = run.us(t.end) * 1e-6;
    const auto device = [&](std::string_view prefix) { return std::stoul(t.stream.substr(prefix.size())); };
    if (t.stream.starts_with("backward") && t.kind == "KERNEL_AICORE") {
      double& latest = kernel_ends[kernel_of[device("backward")]++];
      latest = std::max(latest, end);
    } else if (t.stream.starts_with("exchange") && t.name.starts_with("AR_")) {
      const usize b = bucket_of[device("exchange")]++;
      starts[b] = std::max(starts[b], start);
      ends[b] = std::max(ends[b], end);
    }
  }
  for (usize b = 0; b < x.buckets.size(); ++b) {
    out.ready[b] = kernel_ends[x.buckets[b].kernel];
    out.lengths[b] = ends[b] - starts[b];
  }
  out.backward = kernel_ends.back();
  out.exchange = ends.back();
  return out;
}

}  // namespace

void gradient_exchange(Study& study) {
  const config::ChipConfig& chip = study.chip();
  const u64 devices = study.whole("devices");
  const std::vector<Kernel> kernels = backward(chip, study.whole("images"), study.number("efficiency") / 100, 1);
  const auto timed = [&](Exchange x, std::string_view what) {
    x.devices = devices;
    x.name = fmt::format("{}_{}", x.overlap ? "overlap" : "after", what);
    return times_of(study.time(x.name, task_stream(chip, kernels, x), chip), kernels, x);
  };

  u64 parameters = 0, tensors = 0;
  for (const Kernel& k : kernels) {
    tensors += k.gradients.size();
    for (const u64 n : k.gradients)
      parameters += n;
  }
  study.fact("parameters", static_cast<double>(parameters), "");
  study.measured("tensors", static_cast<double>(tensors));

  // From a bucket for each tensor to one for all; then the split of HCCL where nothing is searched: 96.54 % of the
  // gradients, then the rest.
  const std::vector<u64> kib{0, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072};
  struct Point {
    double backward = 0, overlapped = 0, after = 0;  // s; the exposed exchange with overlap and without
    double error = 0;                                // of the former, as a part of the time of the exchange
    u64 buckets = 0;
  };
  const auto points = study.variants(kib.size() + 1, [&](usize i) {
    const bool searched = i < kib.size();
    const u64 bytes = searched ? kib[i] * 1024 : static_cast<u64>(0.9654 * static_cast<double>(parameters)) * 4;
    const std::string what = searched ? fmt::format("{}KiB", kib[i]) : "9654";
    const std::vector<Bucket> buckets = buckets_of(kernels, bytes);
    const Times overlap = timed({.buckets = buckets}, what);
    Point out{.backward = overlap.backward, .overlapped = overlap.exposed(), .buckets = buckets.size()};
    if (!searched) return out;
    const Times after = timed({.buckets = buckets, .overlap = false}, what);
    out.after = after.exposed();
    out.error = std::fabs(overlap.exposed() - overlap.expected(after.lengths)) / overlap.exchange;
    return out;
  });
  const std::span<const Point> searched = std::span(points).first(kib.size());
  double error = 0, least_gain = 1e300;
  study.fact("backward", points[0].backward * 1e3, "ms");
  for (usize i = 0; i < searched.size(); ++i) {
    const Point& p = searched[i];
    error = std::max(error, p.error);
    least_gain = std::min(least_gain, p.after / p.overlapped);
    study.fact(fmt::format("{} KiB, {} all-reduces: exposed, overlapped", kib[i], p.buckets), p.overlapped * 1e3, "ms");
    study.fact(fmt::format("{} KiB, {} all-reduces: exposed, after backward", kib[i], p.buckets), p.after * 1e3, "ms");
  }
  const auto best = std::ranges::min_element(searched, {}, &Point::overlapped);
  study.fact("best bucket", static_cast<double>(kib[static_cast<usize>(best - searched.begin())]), "KiB");
  study.fact(fmt::format("split at 96.54 %, {} all-reduces: exposed, overlapped", points.back().buckets),
             points.back().overlapped * 1e3, "ms");
  study.measured("exposed_error", 100 * error);
  study.measured("least_gain", least_gain);
  study.measured("largest_bucket", searched.back().overlapped / best->overlapped);
  study.measured("smallest_bucket", searched.front().overlapped / best->overlapped);

  // Bits, with smaller tensors.
  const std::vector<Kernel> small = backward(chip, 1, 1, study.whole("divisor"));
  Exchange x{.devices = devices, .buckets = buckets_of(small, 64 * 1024)};
  const u64 all = x.buckets.back().first + x.buckets.back().count;
  Random random(24);
  for (u64 d = 0; d < devices; ++d) {
    x.gradients.emplace_back(all);
    for (float& g : x.gradients.back())
      g = random.uniform();
  }
  // The sums of all devices, one device after the other.
  const auto sums = study.variants(2, [&](usize i) {
    x.overlap = i == 1;
    x.name = x.overlap ? "bits-overlap" : "bits-after";
    const Run run = study.run(x.name, task_stream(chip, small, x));
    std::vector<float> out;
    for (u64 d = 0; d < devices; ++d) {
      const std::vector<float> mine = run.values<float>(fmt::format("sum{}", d));
      out.insert(out.end(), mine.begin(), mine.end());
    }
    return out;
  });
  u64 different = 0;
  double largest = 0;
  for (u64 d = 0; d < devices; ++d) {
    const std::span first = std::span(sums[1]).first(all), mine = std::span(sums[1]).subspan(d * all, all);
    if (!std::ranges::equal(std::span(sums[0]).subspan(d * all, all), mine) || !std::ranges::equal(mine, first))
      ++different;
    for (u64 i = 0; i < all; ++i) {
      double exact = 0, size = 0;
      for (const auto& g : x.gradients)
        exact += g[i], size += std::fabs(g[i]);
      largest = std::max(largest, std::fabs(mine[i] - exact) / size);
    }
  }
  study.measured("different_results", static_cast<double>(different));
  study.measured("error", largest * 0x1p23);
}

}  // namespace vinci::studies
