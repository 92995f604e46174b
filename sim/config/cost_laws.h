// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "isa/table/insn.h"
#include "sim/config/units.h"

// The laws by which the time of an instruction grows with its work. A law is a struct with
//   name, doc      as a chip file and its manual call it
//   its keys       and describe(), which visits each with its meaning and range, as describe_chip.h does
//   body(work)     cycles that grow with the work; pure
// and, where they apply, the members that the following look for:
//   per_conflict   cycles of a conflict in the banks of UB (models/cost/ub_banks.h)
//   partial        cycles where the last `unit` of the destination is written in part
//   delivery       share of its body in which a read of global memory enters its buffer
//   sustained      rate that no burst of the copy exceeds, its start included
//   kInPieces      the rows of the copy are asked for one by one, because they become fractals
// To add one, write it here and append it to Law.
namespace vinci::config {

// What a number may be, both ends included.
struct Range {
  double low = 0;
  double high = 0;
};
inline constexpr Range kCycleRange{0, 1e9};
inline constexpr Range kRateRange{0, 1e6};

namespace laws {

inline double count(u64 n) { return static_cast<double>(n); }
inline double cycles_of(u64 bytes, BytesPerCycle rate) { return rate > 0 ? count(bytes) / rate.value : 0; }

inline constexpr std::string_view kStepDoc = "of a step: a fractal of the cube, a repeat, a fractal of load2d";
inline constexpr std::string_view kConflictDoc = "of a conflict of a vector instruction in the banks of UB";
inline constexpr std::string_view kRateDoc = "rate of the payload; 0B/cycle: bytes cost nothing here";
inline constexpr std::string_view kDeliveryDoc =
    "share of that which a read of global memory takes to enter its buffer, at least `minimum`, from when the first of "
    "it arrives; 0: it enters as it arrives";

// The same time whatever there is to do: `minimum`, or `startup`.
struct Fixed {
  static constexpr std::string_view name = "fixed", doc = "the work costs nothing";
  double body(const isa::Work& /*work*/) const { return 0; }
  template <class V, class S>
  static void describe(V& /*visit*/, S& /*law*/) {}
  friend bool operator==(const Fixed&, const Fixed&) = default;
};

struct Steps {
  static constexpr std::string_view name = "steps", doc = "steps * per_step";
  double per_step = 0;
  double body(const isa::Work& work) const { return count(work.steps) * per_step; }
  template <class V, class S>
  static void describe(V& visit, S& law) {
    visit("per_step", law.per_step, kStepDoc, kCycleRange);
  }
  friend bool operator==(const Steps&, const Steps&) = default;
};

// A product: a row of fractals of A takes time of its own.
struct Rows {
  static constexpr std::string_view name = "rows", doc = "steps * per_step + rows * per_row";
  double per_step = 0, per_row = 0;
  double body(const isa::Work& work) const { return count(work.steps) * per_step + count(work.rows) * per_row; }
  template <class V, class S>
  static void describe(V& visit, S& law) {
    visit("per_step", law.per_step, kStepDoc, kCycleRange);
    visit("per_row", law.per_row, "of a row of fractals of A, besides its steps", kCycleRange);
  }
  friend bool operator==(const Rows&, const Rows&) = default;
};

// Repeats of the vector unit, whose operands meet in the banks of UB.
struct Repeats {
  static constexpr std::string_view name = "repeats", doc = "steps * per_step + conflicts * per_conflict";
  double per_step = 0, per_conflict = 1;
  double body(const isa::Work& work) const { return count(work.steps) * per_step; }
  template <class V, class S>
  static void describe(V& visit, S& law) {
    visit("per_step", law.per_step, kStepDoc, kCycleRange);
    visit("per_conflict", law.per_conflict, kConflictDoc, kCycleRange);
  }
  friend bool operator==(const Repeats&, const Repeats&) = default;
};

// Repeats that write more than a block at a time.
struct Parts {
  static constexpr std::string_view name = "parts",
                                    doc =
                                        "as repeats, and `partial` where the last `unit` of the destination is "
                                        "written in part";
  double per_step = 0, per_conflict = 1, partial = 0;
  Bytes unit{32};
  double body(const isa::Work& work) const { return count(work.steps) * per_step; }
  template <class V, class S>
  static void describe(V& visit, S& law) {
    visit("per_step", law.per_step, kStepDoc, kCycleRange);
    visit("per_conflict", law.per_conflict, kConflictDoc, kCycleRange);
    visit("partial", law.partial, "added where the last `unit` of the destination is written in part", kCycleRange);
    visit("unit", law.unit, "see partial", Range{1, 1024.0 * 1024});
  }
  friend bool operator==(const Parts&, const Parts&) = default;
};

// Repeats that need more than what they read: the next `fetch` of them share a fetch.
struct Fetches {
  static constexpr std::string_view name = "fetches",
                                    doc = "as repeats, and fetches * per_fetch; the first fetch is part of `startup`";
  double per_step = 0, per_conflict = 1, per_fetch = 0;
  u32 fetch = 8;
  double body(const isa::Work& work) const {
    const u64 fetches = work.steps > 0 ? (work.steps - 1) / fetch : 0;
    return count(work.steps) * per_step + count(fetches) * per_fetch;
  }
  template <class V, class S>
  static void describe(V& visit, S& law) {
    visit("per_step", law.per_step, kStepDoc, kCycleRange);
    visit("per_conflict", law.per_conflict, kConflictDoc, kCycleRange);
    visit("per_fetch", law.per_fetch, "of a fetch of what the next `fetch` steps need", kCycleRange);
    visit("fetch", law.fetch, "see per_fetch", Range{1, 65536});
  }
  friend bool operator==(const Fetches&, const Fetches&) = default;
};

// A copy inside a core.
struct Rate {
  static constexpr std::string_view name = "rate", doc = "bytes / bytes_per_cycle";
  BytesPerCycle bytes_per_cycle{0};  // 0: bytes cost nothing
  double body(const isa::Work& work) const { return cycles_of(work.bytes, bytes_per_cycle); }
  template <class V, class S>
  static void describe(V& visit, S& law) {
    visit("bytes_per_cycle", law.bytes_per_cycle, kRateDoc, kRateRange);
  }
  friend bool operator==(const Rate&, const Rate&) = default;
};

// A copy from or to global memory: the port of the core, to which the memory behind it can only add.
struct Port {
  static constexpr std::string_view name = "port",
                                    doc =
                                        "bytes / bytes_per_cycle, and of each burst no less than its bytes / "
                                        "sustained";
  BytesPerCycle bytes_per_cycle{0};
  BytesPerCycle sustained{0};  // 0: no limit
  Share delivery{0};
  double body(const isa::Work& work) const { return cycles_of(work.bytes, bytes_per_cycle); }
  template <class V, class S>
  static void describe(V& visit, S& law) {
    visit("bytes_per_cycle", law.bytes_per_cycle, kRateDoc, kRateRange);
    visit("sustained", law.sustained, "no burst is faster than that, its start included; 0B/cycle: no limit",
          kRateRange);
    visit("delivery", law.delivery, kDeliveryDoc, Range{0, 1});
  }
  friend bool operator==(const Port&, const Port&) = default;
};

// Rows from global memory that become fractals, each as one.
struct Bursts {
  static constexpr std::string_view name = "bursts", doc = "the more of bursts * per_burst and bytes / bytes_per_cycle";
  double per_burst = 0;
  BytesPerCycle bytes_per_cycle{0};
  Share delivery{0};
  double body(const isa::Work& work) const {
    return std::max(count(work.bursts) * per_burst, cycles_of(work.bytes, bytes_per_cycle));
  }
  template <class V, class S>
  static void describe(V& visit, S& law) {
    visit("per_burst", law.per_burst, "of a contiguous row", kCycleRange);
    visit("bytes_per_cycle", law.bytes_per_cycle, kRateDoc, kRateRange);
    visit("delivery", law.delivery, kDeliveryDoc, Range{0, 1});
  }
  friend bool operator==(const Bursts&, const Bursts&) = default;
};

// The same in pieces: those of the full size, a half, a quarter, and the rest. There is room for five whole ones, of
// which a part takes two. A row of more waits each time until a part has gone, which costs as much as to begin.
struct Pieces {
  static constexpr std::string_view name = "pieces",
                                    doc =
                                        "as bursts, of which each goes in pieces: per_burst for the first, per_piece "
                                        "for the others, and per_burst - per_piece for each wait for room";
  static constexpr bool kInPieces = true;
  double per_burst = 0, per_piece = 0;
  Bytes piece{256};
  BytesPerCycle bytes_per_cycle{0};
  Share delivery{0};
  double body(const isa::Work& work) const {
    if (work.bursts == 0) return cycles_of(work.bytes, bytes_per_cycle);
    return std::max(count(work.bursts) * row(work.bytes / work.bursts), cycles_of(work.bytes, bytes_per_cycle));
  }
  double row(u64 bytes) const {
    constexpr u64 kRoom = 5, kPart = 2;
    const u64 whole = bytes / piece;
    u64 parts = 0, rest = bytes % piece;
    for (u64 part = piece / 2; part >= piece / 4 && part > 0; part /= 2) {
      parts += rest / part;
      rest %= part;
    }
    if (rest > 0) ++parts;
    const u64 wanted = whole + kPart * parts;
    const u64 turns = 1 + (wanted > kRoom ? ceil_div(wanted - kRoom, kPart) : 0);
    return count(turns) * std::max(0.0, per_burst - per_piece) + count(whole + parts) * per_piece;
  }
  template <class V, class S>
  static void describe(V& visit, S& law) {
    visit("per_burst", law.per_burst, "of a contiguous row, or of its first piece", kCycleRange);
    visit("per_piece", law.per_piece, "of a further piece of a row: those of `piece`, a half, a quarter and the rest",
          kCycleRange);
    visit("piece", law.piece, "see per_piece", Range{4, 1024.0 * 1024});
    visit("bytes_per_cycle", law.bytes_per_cycle, kRateDoc, kRateRange);
    visit("delivery", law.delivery, kDeliveryDoc, Range{0, 1});
  }
  friend bool operator==(const Pieces&, const Pieces&) = default;
};

}  // namespace laws

using Law = std::variant<laws::Fixed, laws::Steps, laws::Rows, laws::Repeats, laws::Parts, laws::Fetches, laws::Rate,
                         laws::Port, laws::Bursts, laws::Pieces>;

// Calls f(law) with a default of each law, in the order of Law.
template <class F>
constexpr void for_each_law(F&& f) {
  [&]<usize... I>(std::index_sequence<I...>) { (f(std::variant_alternative_t<I, Law>{}), ...); }
  (std::make_index_sequence<std::variant_size_v<Law>>());
}

// The law of a name with its keys at their defaults; null where there is none.
constexpr std::optional<Law> law_named(std::string_view name) {
  std::optional<Law> out;
  for_each_law([&](const auto& law) {
    if (law.name == name) out = law;
  });
  return out;
}
inline std::vector<std::string_view> law_names() {
  std::vector<std::string_view> names;
  for_each_law([&](const auto& law) { names.push_back(law.name); });
  return names;
}
inline std::string_view name_of(const Law& law) {
  return std::visit([](const auto& l) { return l.name; }, law);
}

// The time of one instruction in core cycles:
//   occupancy = max(minimum, startup + body + what it meets in UB, limit of `sustained`)
//               + (head, if the pipe was empty)          when the pipe takes the next instruction
//   latency   = occupancy + tail                         when the result is visible
struct CostLine {
  Law law{};
  double head = 0;
  double startup = 0;
  double minimum = 1;
  double tail = 0;
  std::string from = "assumed";  // measured <source> | document <source> | assumed

  // Cycles that grow with the work.
  double body(const isa::Work& work) const {
    return std::visit([&](const auto& l) { return l.body(work); }, law);
  }
  // f(law), or `otherwise` where the law lacks what f wants of it.
  template <class T, class F>
  T of_law(T otherwise, F&& f) const {
    return std::visit(
        [&](const auto& l) -> T {
          if constexpr (requires { f(l); }) {
            return f(l);
          } else {
            return otherwise;
          }
        },
        law);
  }
  double per_step() const {
    return of_law(0.0, [](const auto& l) -> decltype(l.per_step) { return l.per_step; });
  }
  BytesPerCycle bytes_per_cycle() const {  // 0: bytes cost nothing
    return of_law(BytesPerCycle(0), [](const auto& l) -> decltype(l.bytes_per_cycle) { return l.bytes_per_cycle; });
  }

  friend bool operator==(const CostLine&, const CostLine&) = default;
};

}  // namespace vinci::config
