// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <deque>
#include <filesystem>
#include <thread>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "sim/config/load.h"
#include "sim/io/atomic_file.h"
#include "sim/io/text_file.h"
#include "tools/sweep/optimiser.h"

namespace vinci::sweep {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kPause(2);  // between two looks at the processes

// The table of a folder, and the jobs that are under way.
class Work {
 public:
  Work(const Definition& d, const Request& request, Executor& executor)
      : d_(d), request_(request), executor_(executor), table_(request.folder + "/sweep.db") {
    for (const char* folder : {"jobs", "results", "logs"})
      fs::create_directories(fs::path(request.folder) / folder);
  }

  // Adds a point; returns its key.
  std::string add(const Point& point) {
    Job job = make_job(d_, point, simulator_);
    const std::string key = job.key;
    if (points_.contains(key)) return key;
    points_[key] = point;
    order_.push_back(key);
    const std::string left = result_file(key);
    if (!table_.has(key) && fs::exists(left)) keep(key, "");  // of a sweep that was ended before it saw the result
    if (table_.has(key) && !(request_.retry && !table_.row(key).error.empty())) {
      ++known_;
      return key;
    }
    job.table = fs::absolute(request_.folder + "/sweep.db");
    waiting_.push_back(std::move(job));
    return key;
  }

  // Until all points are in the table.
  void finish(usize expected) {
    while (!waiting_.empty() || running_ > 0) {
      if (request_.interrupted && request_.interrupted()) {
        fail(Fault::Limit, "interrupted; {} points are in {}, and the same command goes on",
             order_.size() - waiting_.size() - running_, request_.folder + "/sweep.db");
      }
      while (!waiting_.empty() && executor_.has_room()) {
        const Job& job = waiting_.front();
        io::write_file_atomically(fmt::format("{}/jobs/{}.json", request_.folder, job.key), to_json(job));
        executor_.start(job);
        ++running_;
        waiting_.pop_front();
      }
      const std::vector<Executor::Done> done = executor_.done();
      for (const Executor::Done& job : done) {
        keep(job.key, job.error);
        --running_;
      }
      if (request_.progress) {
        request_.progress({.done = order_.size() - waiting_.size() - running_,
                           .all = std::max(expected, order_.size()),
                           .failed = failed_});
      }
      if (done.empty()) std::this_thread::sleep_for(kPause);
    }
  }

  Row row(const std::string& key) const {
    Row out = table_.row(key);
    out.point = points_.at(key);
    return out;
  }
  const std::vector<std::string>& order() const { return order_; }
  usize known() const { return known_; }
  void show(const Outcome& o) { table_.show(order_, o.keys, o.measures); }

 private:
  std::string result_file(const std::string& key) const {
    return fmt::format("{}/results/{}.json", request_.folder, key);
  }

  // Moves what a job left into the table.
  void keep(const std::string& key, const std::string& error) {
    const std::string file = result_file(key);
    Result result{.key = key, .mode = d_.mode, .simulator = simulator_};
    result.error = error;
    result.exit_code = static_cast<int>(Fault::Internal);
    if (fs::exists(file)) result = read_result(file);
    failed_ += result.error.empty() ? 0 : 1;
    table_.add(result, points_.at(key));
    std::error_code none;
    fs::remove(file, none);
    fs::remove(fmt::format("{}/jobs/{}.json", request_.folder, key), none);
    if (result.error.empty()) fs::remove(fmt::format("{}/logs/{}.txt", request_.folder, key), none);
  }

  const Definition& d_;
  const Request& request_;
  Executor& executor_;
  const std::string simulator_ = simulator_id();
  Table table_;
  std::map<std::string, Point> points_;
  std::vector<std::string> order_;
  std::deque<Job> waiting_;
  usize running_ = 0, known_ = 0, failed_ = 0;
};

// Groups of points that the optimiser chooses, knowing the groups before.
void optimise(const Optimise& o, Work& work) {
  Optimiser optimiser(o);
  for (usize asked = 0; asked < o.trials;) {
    const std::vector<Optimiser::Trial> trials = optimiser.ask(std::min<usize>(o.group, o.trials - asked));
    asked += trials.size();
    std::vector<std::string> keys;
    for (const Optimiser::Trial& t : trials)
      keys.push_back(work.add(t.point));
    work.finish(o.trials);
    for (usize i = 0; i < trials.size(); ++i) {
      const Row row = work.row(keys[i]);
      std::vector<double> values;
      for (const std::string& column : o.minimise) {
        if (const auto value = row.error.empty() ? value_of(row, column) : std::nullopt) values.push_back(*value);
      }
      const bool whole = values.size() == o.minimise.size();
      optimiser.tell(trials[i].number, whole ? std::optional(values) : std::nullopt);
    }
  }
}

// What no point can be simulated with, such as a key that chip files do not have, is one mistake and not one for each.
void check_chips(const Definition& d, const std::vector<Point>& all) {
  constexpr usize kMost = 1000;
  std::string first;
  for (usize i = 0; i < all.size(); ++i) {
    if (i == kMost) return;
    const Job job = make_job(d, all[i], "");
    try {
      config::load_chip(job.chip, job.set);
      return;
    } catch (const Error& e) {
      if (first.empty()) first = e.what();
    }
  }
  if (!first.empty()) fail(Fault::Input, "no point has a chip that can be read; the first: {}", first);
}

// A column that no row has is a mistake in the definition.
void check_columns(const Definition& d, const std::vector<Row>& rows) {
  const auto first = std::ranges::find_if(rows, [](const Row& r) { return r.done && r.error.empty(); });
  if (first == rows.end()) return;
  std::vector<std::string> names;
  for (const std::string& key : d.keys())
    names.push_back(column_of(key));
  for (const auto& [name, value] : first->stats)
    names.push_back(name);
  std::vector<std::string> asked = d.measures;
  asked.insert(asked.end(), d.pareto.begin(), d.pareto.end());
  for (const std::string& column : asked) {
    if (std::ranges::find(names, column) == names.end())
      fail(Fault::Input, "the results have no column '{}'{}", column, did_you_mean(column, names));
  }
}

}  // namespace

usize Outcome::failed() const {
  return static_cast<usize>(std::ranges::count_if(rows, [](const Row& r) { return !r.error.empty(); }));
}

namespace {

// "512 KiB" as 524288, "64 B/cycle" as 64.
std::optional<double> number_with_unit(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  std::string_view unit = text.substr(static_cast<usize>(end - text.data()));
  while (unit.starts_with(' '))
    unit.remove_prefix(1);
  const usize power =
      unit.size() > 1 && unit[1] == 'i' ? std::string_view("KMGT").find(unit[0]) : std::string_view::npos;
  return power == std::string_view::npos ? number : std::ldexp(number, static_cast<int>(10 * (power + 1)));
}

}  // namespace

std::optional<double> value_of(const Row& row, const std::string& column) {
  if (const auto at = row.stats.find(column); at != row.stats.end()) return at->second;
  const auto at = std::ranges::find(row.point, column, [](const Setting& s) { return column_of(s.key); });
  if (at == row.point.end()) return std::nullopt;
  return number_with_unit(at->value);
}

std::vector<bool> pareto_front(const std::vector<Row>& rows, const std::vector<std::string>& columns) {
  std::vector<std::vector<double>> values(rows.size());
  for (usize i = 0; i < rows.size(); ++i) {
    for (const std::string& column : columns) {
      if (const auto value = rows[i].error.empty() ? value_of(rows[i], column) : std::nullopt)
        values[i].push_back(*value);
    }
  }
  const auto whole = [&](usize i) { return !columns.empty() && values[i].size() == columns.size(); };
  const auto beats = [&](usize i, usize j) {
    bool less = false;
    for (usize c = 0; c < columns.size(); ++c) {
      if (values[i][c] > values[j][c]) return false;
      less |= values[i][c] < values[j][c];
    }
    return less;
  };
  std::vector<bool> out(rows.size());
  for (usize j = 0; j < rows.size(); ++j) {
    out[j] = whole(j);
    for (usize i = 0; i < rows.size() && out[j]; ++i)
      out[j] = !(whole(i) && beats(i, j));
  }
  return out;
}

Outcome run_sweep(const Definition& d, const Request& request, Executor& executor) {
  Work work(d, request, executor);
  if (d.optimise) {
    optimise(*d.optimise, work);
  } else {
    const std::vector<Point> all = points(d);
    check_chips(d, all);
    for (const Point& p : all)
      work.add(p);
    work.finish(all.size());
  }
  Outcome out{.keys = d.keys(), .measures = d.measures, .rows = {}, .front = {}, .known = work.known()};
  for (const std::string& column : d.pareto) {
    const bool there = std::ranges::find(out.keys, column, column_of) != out.keys.end() ||
                       std::ranges::find(out.measures, column) != out.measures.end();
    if (!there) out.measures.push_back(column);
  }
  for (const std::string& key : work.order())
    out.rows.push_back(work.row(key));
  check_columns(d, out.rows);
  out.front = pareto_front(out.rows, d.pareto);
  work.show(out);
  return out;
}

std::string setting_of(const Row& row, const std::string& key) {
  const auto at = std::ranges::find(row.point, key, &Setting::key);
  return at == row.point.end() ? std::string() : at->value;
}

std::string number_of(const Row& row, const std::string& column) {
  const auto at = row.stats.find(column);
  return at == row.stats.end() ? std::string() : fmt::format("{:.10g}", at->second);
}

std::string to_csv(const Outcome& o) {
  std::string out = "number";
  for (const auto* names : {&o.keys, &o.measures})
    for (const std::string& name : *names)
      out += "," + io::csv_field(column_of(name));
  out += ",error\n";
  for (usize i = 0; i < o.rows.size(); ++i) {
    out += fmt::format("{}", i);
    for (const std::string& key : o.keys)
      out += "," + io::csv_field(setting_of(o.rows[i], key));
    for (const std::string& measure : o.measures)
      out += "," + number_of(o.rows[i], measure);
    out += "," + io::csv_field(o.rows[i].error) + "\n";
  }
  return out;
}

std::string to_text(const Outcome& o, usize most) {
  std::vector<const Row*> rows;
  for (const Row& r : o.rows)
    if (r.error.empty()) rows.push_back(&r);
  if (!o.measures.empty()) {
    std::ranges::stable_sort(rows, {}, [&](const Row* r) { return value_of(*r, o.measures.front()).value_or(0); });
  }
  std::string out;
  for (const std::string& key : o.keys)
    out += fmt::format("{:>18}  ", column_of(key));
  for (const std::string& measure : o.measures)
    out += fmt::format("{:>14}  ", measure);
  out += "\n";
  for (usize i = 0; i < std::min(most, rows.size()); ++i) {
    for (const std::string& key : o.keys)
      out += fmt::format("{:>{}}  ", setting_of(*rows[i], key), std::max<usize>(18, column_of(key).size()));
    for (const std::string& measure : o.measures)
      out += fmt::format("{:>{}}  ", number_of(*rows[i], measure), std::max<usize>(14, measure.size()));
    out += "\n";
  }
  if (rows.size() > most) out += fmt::format("... and {} more\n", rows.size() - most);
  return out;
}

}  // namespace vinci::sweep
