// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S13: hard negatives by a top-k whose k comes from the data, by a sort with a mask, and by a top-k whose k is fixed.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

#include "isa/base/enums.h"
#include "isa/base/random.h"
#include "isa/numeric/float16.h"
#include "tools/studies/sort_kernels.h"
#include "tools/studies/stream_parts.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

// topk: the host reads k and launches kernels for it. sort: a model that sorts all and masks what is behind k. fixed: a
// model with a top-k for a k that is known before.
enum class Way : u8 { topk, sort, fixed };
constexpr auto kWayNames = enum_names<Way>;

struct Case {
  std::vector<u16> scores = {};  // f16
  u64 k = 0, fixed = 0;
  double host = 0;  // s of the host for the shape of the top-k
  u64 tiles() const { return scores.size() / kSortTile; }
};

// Few different scores, so that many are equal.
Case make_case(u64 tiles, double positives, double host) {
  Case c{.scores = std::vector<u16>(tiles * kSortTile), .host = host};
  Random random(13);
  for (u16& s : c.scores)
    s = isa::f32_to_f16(std::bit_cast<u32>(random.uniform()));
  const auto count = static_cast<double>(c.scores.size());
  c.k = static_cast<u64>(3 * positives * count);
  c.fixed = c.k * 9 / 10;  // of an average over other images
  return c;
}

// Records of the scores: tiles, then lists of four until one is left.
class Sorter {
 public:
  Sorter(task::StreamBuilder& s, const config::ChipConfig& chip, const Case& c) : chip_(chip), c_(c) {
    using enum task::KernelType;
    sort_ = s.kernel("sort_tiles", AIV_ONLY, sort_tiles(chip.arch));
    merge_ = s.kernel("merge_lists", AIV_ONLY, merge_lists(chip.arch));
    for (int i = 0; i < 2; ++i)
      records_[i] = s.device(fmt::format("records{}", i), align_up<u64>(c.tiles(), 64) * kSortTile * kRecordBytes);
  }

  // Adds the launches; the sorted records, `most` of them, are in what it returns.
  task::BufferRef add(task::StreamRef main, task::BufferRef scores, task::BufferRef iota, u64 most) {
    main.launch(sort_, u32(std::min<u64>(c_.tiles(), chip_.vector_cores)), {scores, iota, records_[0], c_.tiles()});
    usize from = 0;
    u64 lists = c_.tiles(), stride = kSortTile, length = std::min(most, kSortTile);
    while (lists > 1) {
      const u64 groups = ceil_div(lists, u64{4});
      main.launch(merge_, u32(groups),
                  {records_[from], records_[1 - from], c_.scores.size(), stride, length, std::min(most, 4 * stride)});
      lists = groups, stride *= 4, length = std::min(most, 4 * length);
      from = 1 - from;
    }
    return records_[from];
  }

 private:
  const config::ChipConfig& chip_;
  const Case& c_;
  task::KernelRef sort_ = {}, merge_ = {};
  std::array<task::BufferRef, 2> records_ = {};
};

task::BuiltStream task_stream(const config::ChipConfig& chip, const std::string& name, const Case& c, Way way,
                              bool save) {
  task::StreamBuilder s(name, chip.arch);
  std::vector<i32> numbers(kSortTile);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::vector<float> wide(numbers.begin(), numbers.end());
  const std::vector<i32> k{static_cast<i32>(c.k), 0, 0, 0, 0, 0, 0, 0};
  const u64 n = c.scores.size();
  const task::BufferRef scores = s.device("scores_dev", n * 2), iota = s.device("iota_dev", kSortTile * 4),
                        fiota = s.device("fiota_dev", kSortTile * 4), k_dev = s.device("k_dev", 32),
                        mask = s.device("mask_dev", n * 4);
  task::StreamRef load = s.stream("load");
  load.memcpy(scores, s.host_data<u16>("scores", "f2", c.scores)).memcpy(iota, s.host_data<i32>("iota", "i4", numbers));
  load.memcpy(fiota, s.host_data<float>("fiota", "f4", wide)).memcpy(k_dev, s.host_data<i32>("k", "i4", k));
  task::ThreadRef host = s.thread("main");
  host.enqueue(load).synchronize(load);
  Sorter sorter(s, chip, c);
  const bool sunk = way != Way::topk;
  std::optional<task::ModelRef> model;
  if (sunk) model = s.model("select");
  task::StreamRef main = s.stream("select", {.model = model});
  const task::BufferRef sorted = sorter.add(main, scores, iota,
                                            way == Way::sort   ? n
                                            : way == Way::topk ? c.k
                                                               : c.fixed);
  if (way == Way::sort) {
    main.launch(s.kernel("mask_first", task::KernelType::AIV_ONLY, mask_first(chip.arch)),
                u32(std::min<u64>(c.tiles(), chip.vector_cores)), {k_dev, fiota, mask, c.tiles()});
  }
  task::StreamRef read = s.stream("read"), execute = s.stream("execute"), keep = s.stream("keep");
  if (sunk) {
    host.enqueue(execute.execute(*model)).synchronize(execute);
  } else {
    read.memcpy(s.host({.name = "seen", .bytes = 32}), k_dev);
    host.enqueue(read)
        .synchronize(read)
        .compute(whole_nanoseconds(std::max(c.host, 1e-9)), "shape")
        .enqueue(main)
        .synchronize(main);
  }
  if (save) {
    keep.memcpy(s.host({.name = "records", .output = "records.npy", .dtype = "u4", .shape = {n * 2}}), sorted,
                n * kRecordBytes);
    if (way == Way::sort)
      keep.memcpy(s.host({.name = "mask", .output = "mask.npy", .dtype = "f4", .shape = {n}}), mask);
    host.enqueue(keep);
  }
  return s.finish();
}

struct Found {
  double seconds = 0, vector = 0, dispatches = 0,
         waits = 0;  // s behind the loading; cycles; tasks of the host; its reads
  u64 wrong = 0;     // positions at which the selection is not that of a stable sort on the host
};

Found find(const Study& study, const Case& c, Way way) {
  const std::string name(kWayNames[usize(way)]);
  const Run run = study.run(name, task_stream(study.chip(), name, c, way, true));
  Found out{.vector = static_cast<double>(run.busy_cycles(isa::PipeId::V))};
  double loaded = 0, end = 0;
  for (const models::TaskTime& t : run.result.tasks) {
    if (t.stream == "load") loaded = std::max(loaded, run.us(t.end));
    if (t.stream == "select" || t.stream == "execute") end = std::max(end, run.us(t.end));
    if (t.stream == "execute" || (way == Way::topk && t.stream == "select")) ++out.dispatches;
    if (t.stream == "read") ++out.waits;
  }
  out.seconds = (end - loaded) * 1e-6;
  std::vector<u32> order(c.scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto score = [&](u32 i) { return isa::f16_value(c.scores[i]); };
  std::ranges::stable_sort(order, [&](u32 a, u32 b) { return score(a) > score(b); });
  const std::vector<u32> records = run.values<u32>("records");
  const u64 k = way == Way::fixed ? c.fixed : c.k;
  for (u64 i = 0; i < k; ++i)
    out.wrong += records[2 * i + 1] != order[i] || static_cast<u16>(records[2 * i]) != c.scores[order[i]];
  if (way != Way::sort) return out;
  const std::vector<float> mask = run.values<float>("mask");
  for (u64 i = 0; i < mask.size(); ++i)
    out.wrong += mask[i] != (i < k ? 1.0f : 0.0f);
  return out;
}

}  // namespace

void static_topk(Study& study) {
  if (study.chip().vector_cores == 0)
    fail(Fault::Unsupported, "S13: the kernels are for cores with vbitsort32: the split core");
  const double host = study.number("host") * 1e-6;
  const Case c = make_case(study.whole("tiles"), study.number("positives") / 100, host);
  const auto found = study.variants(kWayNames.size(), [&](usize i) { return find(study, c, Way(i)); });
  const Found &topk = found[0], &sort = found[1], &fixed = found[2];
  for (usize i = 0; i < found.size(); ++i)
    study.fact(fmt::format("{}: selection", kWayNames[i]), found[i].seconds * 1e6, "us");
  study.fact("k", static_cast<double>(c.k), "");
  // T_topk(h) = h + rest.
  const double even = sort.seconds - (topk.seconds - host);
  study.fact("host time at which both are equal", std::max(0.0, even) * 1e6, "us");
  Case at_even = c;
  at_even.host = std::max(0.0, even);
  study.measured("different_sets", static_cast<double>(topk.wrong + sort.wrong + fixed.wrong));
  study.measured("topk_waits", topk.waits);
  study.measured("sort_dispatches", sort.dispatches);
  study.measured("sort_vector", sort.vector / topk.vector);
  study.measured("break_even", even > 0 ? find(study, at_even, Way::topk).seconds / sort.seconds : 0);
  study.measured("sort_wins", topk.seconds / sort.seconds);
}

}  // namespace vinci::studies
