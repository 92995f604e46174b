// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/sweep/table.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "isa/base/error.h"

namespace vinci::sweep {
namespace {

using nlohmann::json;

constexpr int kPatienceMs = 10'000;  // for others that use the file

constexpr const char* kSchema = R"(
create table if not exists chips (hash text primary key, yaml text not null) without rowid;
create table if not exists simulations (
  stream text, chip text, mode text, simulator text, stats text not null,
  primary key (stream, chip, mode, simulator)) without rowid;
create table if not exists points (
  key text primary key, settings text not null, stream text, chip text, mode text, simulator text,
  error text not null, exit_code integer not null, cpu_seconds real not null,
  finished text not null default current_timestamp) without rowid;
create table if not exists shown (number integer primary key, key text not null);
)";

[[noreturn]] void fail_with(sqlite3* db, const std::string& path) {
  const int code = db == nullptr ? SQLITE_NOMEM : sqlite3_errcode(db);
  const bool room = code == SQLITE_FULL || code == SQLITE_IOERR || code == SQLITE_NOMEM;
  fail_at(room ? Fault::Limit : Fault::Input, path, "{}", db == nullptr ? "out of memory" : sqlite3_errmsg(db));
}

// A statement with its parameters bound in order.
class Statement {
 public:
  Statement(sqlite3* db, const std::string& path, std::string_view sql) : db_(db), path_(path) {
    if (sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr) != SQLITE_OK)
      fail_with(db, path);
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& bind(const std::string& text) {
    sqlite3_bind_text(statement_, ++bound_, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
    return *this;
  }
  Statement& bind(double value) {
    sqlite3_bind_double(statement_, ++bound_, value);
    return *this;
  }
  Statement& bind(i64 value) {
    sqlite3_bind_int64(statement_, ++bound_, value);
    return *this;
  }
  // Whether there is a row.
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail_with(db_, path_);
    return code == SQLITE_ROW;
  }
  std::string text(int column) const {
    const unsigned char* const at = sqlite3_column_text(statement_, column);
    return at == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(at));
  }
  double number(int column) const { return sqlite3_column_double(statement_, column); }

 private:
  sqlite3* db_;
  const std::string& path_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

void execute(sqlite3* db, const std::string& path, const std::string& sql) {
  if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail_with(db, path);
}

// All or nothing; without commit() nothing.
class Transaction {
 public:
  Transaction(sqlite3* db, const std::string& path) : db_(db), path_(path) { execute(db, path, "begin immediate"); }
  ~Transaction() {
    if (!done_) sqlite3_exec(db_, "rollback", nullptr, nullptr, nullptr);
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit() {
    execute(db_, path_, "commit");
    done_ = true;
  }

 private:
  sqlite3* db_;
  const std::string& path_;
  bool done_ = false;
};

// A number where the text is one, so that columns can be compared.
json value_of(const std::string& text) {
  const char* const last = text.data() + text.size();
  i64 whole = 0;
  if (const auto [end, error] = std::from_chars(text.data(), last, whole); error == std::errc() && end == last)
    return whole;
  double number = 0;
  if (const auto [end, error] = std::from_chars(text.data(), last, number); error == std::errc() && end == last)
    return number;
  return text;
}

std::string enclosed(std::string_view text, char quote) {
  std::string out(1, quote);
  for (const char c : text)
    out.append(c == quote ? 2 : 1, c);
  return out + quote;
}

// The part of a JSON object with a name that may hold dots.
std::string path_of(std::string_view name) { return enclosed("$." + enclosed(name, '"'), '\''); }

std::map<std::string, double> stats_of(const std::string& text) {
  return text.empty() ? std::map<std::string, double>() : json::parse(text).get<std::map<std::string, double>>();
}

}  // namespace

void Table::Close::operator()(sqlite3* db) const { sqlite3_close(db); }

Table::Table(const std::string& path) : path_(path) {
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  db_.reset(db);
  if (code != SQLITE_OK) fail_with(db, path);
  sqlite3_busy_timeout(db, kPatienceMs);
  // A result can be simulated again, so a crash of the machine may cost the last ones.
  execute(db, path, "pragma journal_mode=wal; pragma synchronous=normal");
  execute(db, path, kSchema);
}

void Table::add(const Result& r, const Point& point) {
  json settings = json::object();
  for (const Setting& s : point)
    settings[s.key] = value_of(s.value);
  Transaction all(db_.get(), path_);
  if (r.error.empty()) {
    Statement(db_.get(), path_, "insert or ignore into chips values (?, ?)").bind(r.chip).bind(r.chip_file).step();
    Statement(db_.get(), path_, "insert or ignore into simulations values (?, ?, ?, ?, ?)")
        .bind(r.stream)
        .bind(r.chip)
        .bind(r.mode)
        .bind(r.simulator)
        .bind(json(r.stats).dump())
        .step();
  }
  Statement(
      db_.get(), path_,
      "insert or replace into points (key, settings, stream, chip, mode, simulator, error, exit_code, cpu_seconds) "
      "values (?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(r.key)
      .bind(settings.dump())
      .bind(r.stream)
      .bind(r.chip)
      .bind(r.mode)
      .bind(r.simulator)
      .bind(r.error)
      .bind(i64{r.exit_code})
      .bind(r.cpu_seconds)
      .step();
  all.commit();
}

bool Table::has(const std::string& key) const {
  return Statement(db_.get(), path_, "select 1 from points where key = ?").bind(key).step();
}

void Table::show(const std::vector<std::string>& points, const std::vector<std::string>& keys,
                 const std::vector<std::string>& measures) {
  std::string columns;
  for (const std::string& key : keys)
    columns += fmt::format(", json_extract(p.settings, {}) as {}", path_of(key), enclosed(column_of(key), '"'));
  for (const std::string& measure : measures)
    columns += fmt::format(", json_extract(m.stats, {}) as {}", path_of(measure), enclosed(measure, '"'));
  Transaction all(db_.get(), path_);
  execute(db_.get(), path_, "delete from shown");
  for (usize i = 0; i < points.size(); ++i)
    Statement(db_.get(), path_, "insert into shown values (?, ?)").bind(static_cast<i64>(i)).bind(points[i]).step();
  execute(db_.get(), path_,
          fmt::format("drop view if exists sweep; create view sweep as select s.number as number{}, p.error as error "
                      "from shown s join points p on p.key = s.key left join simulations m on m.stream = p.stream and "
                      "m.chip = p.chip and m.mode = p.mode and m.simulator = p.simulator order by s.number",
                      columns));
  all.commit();
}

Row Table::row(const std::string& key) const {
  Statement s(db_.get(), path_,
              "select m.stats, p.error, p.cpu_seconds from points p left join simulations m on m.stream = p.stream and "
              "m.chip = p.chip and m.mode = p.mode and m.simulator = p.simulator where p.key = ?");
  Row out;
  if (!s.bind(key).step()) return out;
  out.done = true;
  out.error = s.text(1);
  if (out.error.empty()) out.stats = stats_of(s.text(0));
  out.cpu_seconds = s.number(2);
  return out;
}

std::optional<std::map<std::string, double>> Table::look_up(const std::string& path, const Result& r) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  const std::unique_ptr<sqlite3, Close> db(opened);
  if (code != SQLITE_OK) return std::nullopt;
  sqlite3_busy_timeout(db.get(), kPatienceMs);
  Statement s(db.get(), path,
              "select stats from simulations where stream = ? and chip = ? and mode = ? and simulator = ?");
  if (!s.bind(r.stream).bind(r.chip).bind(r.mode).bind(r.simulator).step()) return std::nullopt;
  return stats_of(s.text(0));
}

}  // namespace vinci::sweep
