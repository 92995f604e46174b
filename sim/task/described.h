// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "isa/base/types.h"

// How a task operation describes itself: names and role (OpInfo), and a list of fields, each with its key, how text
// spells it and what it has to satisfy. The readers and writers of both spellings, the checks, the limits of a chip and
// the reference in docs/task-stream.md iterate over the descriptions in sim/task/ops.h.
namespace vinci::task {

// What a task means for the order of the run.
enum class TaskRole : u8 {
  work,   // changes memory or state of the device; begins turns of loops
  order,  // only orders other tasks
  steer,  // decides which task or stream goes on; takes at least a cycle, so that time passes in each loop
};

struct OpInfo {
  std::string_view key = {};   // in YAML; also the name of a task that has none
  std::string_view kind = {};  // in the files of the profiler: names of rtModelTaskType_t and TS_TASK_TYPE_*
  TaskRole role = TaskRole::work;
  std::string_view memory = {};  // what it does to device buffers, for the message that refuses a host buffer
  std::string_view doc = {};     // its row in docs/task-stream.md
};

// Bytes of each part of a buffer that an operation touches, and what their offset must be a multiple of.
struct Extent {
  u64 bytes = 0;
  u64 align = 1;
};

// What a task records or waits for. An event stays recorded; a notify is taken by the wait that it satisfies.
struct Signal {
  enum class Kind : u8 { event, notify };
  Kind kind = Kind::event;
  u32 index = 0;

  bool is_notify() const { return kind == Kind::notify; }
  auto operator<=>(const Signal&) const = default;
};

// How text spells a field, and what the checks ask of its value.
namespace as {

enum class Access : u8 { read, write, update };

// A part of a buffer of the stream's device: a name, or {buffer: name, offset: bytes}.
struct part {
  Access access = Access::read;
  std::string_view preposition = {};  // between the operation and the buffer in messages: "memset_async of buffer"
  bool any_device = false;
  bool steers = false;  // its contents decide what streams do
};
// Bytes of the parts; all of them where it is left out.
struct extent {};

// Names of what the task stream declares.
struct event {
  bool declares = false;  // naming it declares it
};
struct notify {
  bool declares = false;
};
struct label {
  bool declares = false;
};
struct labels {};
struct stream {};  // of the same model, which starts there
struct model {};
struct buffer {};  // whole, on the stream's device
struct kernel {};
struct communicator {};  // of all devices where it is left out

struct number {
  u64 max = ~u64{0};
  u64 min = 0;
  bool required = true;
};
// A name for each value of an enumeration.
template <const auto& Names>
struct choice {
  bool required = false;
};
struct integer_type {};  // i4 (default) or i8; the value is 4 or 8 bytes
struct block_dim {};
struct args {};
struct text {};
struct time {};  // seconds; 0 where it is left out

// Two that have rules of their own in the YAML reader.
struct launch_type {};  // MIX_AIC_1_1 or MIX_AIC_1_2; the value is the number of AIVs
struct rows {};         // width, height or pitch of a copy

}  // namespace as

namespace detail {

template <class Member>
struct MemberOf;
template <class Op, class Value>
struct MemberOf<Value Op::*> {
  using op = Op;
  using value = Value;
};

// The compilers write "&ns::Op::member" for a pointer to a member.
template <auto Member>
consteval std::string_view member_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  text = text.substr(text.find("Member = ") + 9);
  text = text.substr(0, text.find_first_of(";]"));
  text = text.substr(text.rfind(':') + 1);
  return text.substr(0, text.find(')'));
}

}  // namespace detail

template <auto Member, class Spelling>
struct Field {
  using Op = typename detail::MemberOf<decltype(Member)>::op;
  using Value = typename detail::MemberOf<decltype(Member)>::value;
  using Condition = bool (*)(const Op&);

  std::string_view key;  // in YAML; "": the operation is written as this value alone
  Spelling spelling;
  Condition when = nullptr;       // the field belongs to an operation for which this holds; null: to each
  std::string_view refusal = {};  // why it is refused elsewhere
  bool listed_last = false;       // messages list its key behind those of other fields

  // The name of the member, which is that of the field in task_stream.fbs.
  static constexpr std::string_view member = detail::member_name<Member>();

  constexpr Field only(Condition condition, std::string_view why) const {
    Field out = *this;
    out.when = condition;
    out.refusal = why;
    return out;
  }
  constexpr Field last() const {
    Field out = *this;
    out.listed_last = true;
    return out;
  }
  constexpr bool applies(const Op& op) const { return when == nullptr || when(op); }

  static constexpr Value& of(Op& op) { return op.*Member; }
  static constexpr const Value& of(const Op& op) { return op.*Member; }
};

template <auto Member, class Spelling>
constexpr Field<Member, Spelling> field(std::string_view key, Spelling spelling) {
  return {.key = key, .spelling = spelling};
}

// The fields of an operation, in the order in which YAML is written.
template <class Op>
inline constexpr auto fields_of = Op::fields();
template <class Op>
inline constexpr usize field_count = std::tuple_size_v<decltype(Op::fields())>;

// Calls visit(field) for each field.
template <class Op, class Visit>
constexpr void for_each_field(Visit&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, fields_of<Op>);
}

// The spelling of a field, as a type.
template <class F>
using SpellingOf = std::remove_cvref_t<decltype(std::declval<F>().spelling)>;
template <class Spelling, class F>
inline constexpr bool is_spelled = std::is_same_v<SpellingOf<F>, Spelling>;

// The value of `for_each_field` restricted to one spelling: visit(field) for each field that is spelled so.
template <class Spelling, class Op, class Visit>
constexpr void for_each_spelled(Visit&& visit) {
  for_each_field<Op>([&](const auto& field) {
    if constexpr (is_spelled<Spelling, std::remove_cvref_t<decltype(field)>>) visit(field);
  });
}
template <class Spelling, class Op>
constexpr usize spelled_count() {
  usize count = 0;
  for_each_spelled<Spelling, Op>([&](const auto&) { ++count; });
  return count;
}

// Whether the operation is written as the value of its one field.
template <class Op>
constexpr bool is_bare() {
  bool bare = false;
  for_each_field<Op>([&](const auto& field) { bare = bare || field.key.empty(); });
  return bare;
}

// The keys of an operation, in the order in which messages list them and the reader takes them.
template <class Op>
constexpr std::array<std::string_view, field_count<Op>> keys_of() {
  std::array<std::string_view, field_count<Op>> keys{};
  usize k = 0;
  for (const bool last : {false, true})
    for_each_field<Op>([&](const auto& field) {
      if (field.listed_last == last) keys[k++] = field.key;
    });
  return keys;
}

}  // namespace vinci::task
