// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/ablation.h"

#include <fmt/format.h>

#include "isa/base/error.h"

namespace vinci::graph {
namespace {

AblationRow row_of(const Network& network) {
  constexpr u32 kExecutions = 2;  // of which the last one is warm, as `vinci compile` prints it
  const NetworkTime time = time_network(network, kExecutions);
  return {.pass = "",
          .tasks = network.nodes.size(),
          .microseconds = time.microseconds,
          .read_bytes = time.read_bytes,
          .written_bytes = time.written_bytes,
          .buffers = network.memory.features};
}

std::string with_sign(double value, int digits) { return fmt::format("{:+.{}f}", value, digits); }
std::string kib_more(u64 value, u64 base) {
  return fmt::format("{:+}", (static_cast<i64>(value) - static_cast<i64>(base)) / 1024);
}

}  // namespace

std::vector<AblationRow> ablation(const Graph& graph, const config::ChipConfig& chip, const CompileOptions& options,
                                  const std::function<void(std::string_view pass)>& progress) {
  const auto tell = [&](std::string_view pass) {
    if (progress) progress(pass);
  };
  CompileOptions without = options;
  without.dump = {};
  tell("");
  const Network all = compile(graph.clone(), chip, without);
  std::vector<AblationRow> rows{row_of(all)};
  for (const PassRecord& record : by_name(all.passes)) {
    if (record.effect.changes == 0) continue;
    const std::string name(record.pass->name);
    tell(name);
    without.switches.passes = options.switches.passes;
    without.switches.passes.insert_or_assign(name, false);
    AblationRow row;
    try {
      row = row_of(compile(graph.clone(), chip, without));
    } catch (const Error& e) {
      if (e.fault() != Fault::Unsupported) throw;
      row.error = e.message().substr(0, e.message().find('\n'));
    }
    row.pass = name;
    row.changes = record.effect.changes;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string ablation_table(const std::vector<AblationRow>& rows) {
  const AblationRow& all = rows.front();
  std::string out = fmt::format("{:<36} {:>7} {:>6} {:>10} {:>10} {:>8} {:>11} {:>11} {:>12}\n", "without", "changes",
                                "tasks", "us", "more us", "%", "KiB read", "written", "KiB buffers");
  out += fmt::format("{:<36} {:>7} {:>6} {:>10.2f} {:>10} {:>8} {:>11} {:>11} {:>12}\n", "(all passes)", "", all.tasks,
                     all.microseconds, "", "", all.read_bytes / 1024, all.written_bytes / 1024, all.buffers / 1024);
  for (usize i = 1; i < rows.size(); ++i) {
    const AblationRow& r = rows[i];
    if (!r.error.empty()) {
      out += fmt::format("{:<36} {:>7} is needed: {}\n", r.pass, r.changes, r.error);
      continue;
    }
    const double more = r.microseconds - all.microseconds;
    out += fmt::format("{:<36} {:>7} {:>6} {:>10.2f} {:>10} {:>8} {:>11} {:>11} {:>12}\n", r.pass, r.changes, r.tasks,
                       r.microseconds, with_sign(more, 2), with_sign(100 * more / all.microseconds, 1),
                       kib_more(r.read_bytes, all.read_bytes), kib_more(r.written_bytes, all.written_bytes),
                       kib_more(r.buffers, all.buffers));
  }
  return out;
}

}  // namespace vinci::graph
