// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/validate/family.h"

#include <fmt/format.h>

#include <algorithm>

#include "isa/base/error.h"
#include "isa/base/suggest.h"

namespace vinci::validate {

std::span<const Family> families() {
  static const std::vector<Family> all{
      instruction_loop(), mad_loop(),       conv2d(),   copy_loop(), cube_chain(), elementwise(),
      flash_attention(),  gm_copy(),        launch(),   matmul(),    nd2nz_ub(),   all_reduce(),
      generated_gemm(),   grouped_matmul(), recorded(), reduction(),
  };
  return all;
}

const Family& family(std::string_view name) {
  const auto list = families();
  const auto it = std::ranges::find(list, name, &Family::name);
  if (it != list.end()) return *it;
  std::vector<std::string_view> names;
  for (const Family& f : list)
    names.push_back(f.name);
  fail(Fault::Input, "there is no family '{}'{} (see `vinci validate --families`)", name, did_you_mean(name, names));
}

std::string describe_families(std::span<const std::string> names) {
  std::vector<const Family*> chosen;
  for (const std::string& name : names)
    chosen.push_back(&family(name));
  if (names.empty())
    for (const Family& f : families())
      chosen.push_back(&f);
  std::string out;
  for (const Family* f : chosen) {
    out += fmt::format("{}{}\n  {}\n", out.empty() ? "" : "\n", f->name, f->doc);
    for (const Parameter& p : f->parameters)
      out += fmt::format("  {:<14} {:<8} {:<10} {}\n", p.name, p.unit, p.fallback.empty() ? "-" : p.fallback, p.doc);
    for (const Metric& m : f->metrics)
      out += fmt::format("  measures {} [{}]: {}\n", m.name, m.unit, m.doc);
  }
  return out;
}

}  // namespace vinci::validate
