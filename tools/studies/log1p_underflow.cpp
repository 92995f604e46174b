// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// S10: binary cross entropy in f16, whose log(1 + e^-|z|) loses what 1 absorbs.
#include <fmt/format.h>

#include <cmath>

#include "isa/numeric/float16.h"
#include "tools/gen/studies/studies.h"
#include "tools/studies/census_of.h"
#include "tools/studies/study.h"

namespace vinci::studies {
namespace {

struct Zeros {
  double percent = 0;       // of results that are zero
  u64 unlike = 0;           // elements that are zero but not |z| >= 7.625, or the other way round
  u64 count = 0, seen = 0;  // zeros; addends that the census saw absorbed by add_1
  u64 first = 0;            // 1: add_1 is the first task that absorbs
};

Zeros zeros_of(const Study& study, gen::Log1pVariant variant) {
  const std::string name(gen::kLog1pVariantNames[usize(variant)]);
  const gen::Log1pStudy asked{.elements = study.whole("pixels") * 128, .variant = variant};
  isa::Census census;
  const Run run = study.count(name, gen::db_log1p_stream(asked, study.chip()).files(), census);
  const std::vector<u16> z = run.values<u16>("z"), results = run.values<u16>("log1p");
  Zeros out;
  for (usize i = 0; i < z.size(); ++i) {
    const bool zero = isa::f16_value(results[i]) == 0;
    out.count += zero;
    out.unlike += zero != (std::fabs(isa::f16_value(z[i])) >= 7.625);
  }
  out.percent = 100 * static_cast<double>(out.count) / static_cast<double>(z.size());
  out.seen = events_of(run, census, "add_1", isa::NumericEvent::absorbed);
  out.first = first_task(run, census, isa::NumericEvent::absorbed) == "add_1" ? 1 : 0;
  return out;
}

}  // namespace

void log1p_underflow(Study& study) {
  const auto found = study.variants(3, [&](usize i) { return zeros_of(study, gen::Log1pVariant(i)); });
  for (usize i = 0; i < found.size(); ++i)
    study.fact(fmt::format("{}: results that are zero", gen::kLog1pVariantNames[i]), found[i].percent, "%");
  study.fact("naive: addends that add_1 absorbs, by the census", static_cast<double>(found[0].seen), "");
  study.measured("naive", found[0].percent);
  study.measured("log1p", found[1].percent);
  study.measured("fp32", found[2].percent);
  study.measured("unlike", static_cast<double>(found[0].unlike));
  study.measured("first", static_cast<double>(found[0].first));
  study.measured("census", std::fabs(static_cast<double>(found[0].seen) - static_cast<double>(found[0].count)));
}

}  // namespace vinci::studies
