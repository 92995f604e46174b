// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string_view>
#include <utility>

#include "sim/task/ops.h"
#include "task_stream_generated.h"

// Which table of task_stream.fbs holds which operation: the one of the same name, with a field for each described
// member of the same name. A difference does not compile. Only for sim/task/vts*.
namespace vinci::task {
namespace detail {

template <class Op>
struct TableOf;
#define VINCI_OP(op)              \
  template <>                     \
  struct TableOf<op> {            \
    using type = ::vinci_vts::op; \
  };
VINCI_TASK_OPS(VINCI_OP)
#undef VINCI_OP

// The position of the field of a table in the description.
template <class Op, class Table, usize Index>
consteval usize described_at() {
  usize at = field_count<Op>, i = 0;
  for_each_field<Op>([&](const auto& field) {
    if (field.member == Table::Traits::field_names[Index]) at = i;
    ++i;
  });
  return at;
}

}  // namespace detail

template <class Op>
using TableOf = typename detail::TableOf<Op>::type;

// The described field that a field of a table holds.
template <class Op, class Table, usize Index>
constexpr const auto& field_of_table() {
  constexpr usize kAt = detail::described_at<Op, Table, Index>();
  static_assert(kAt < field_count<Op>, "task_stream.fbs has a field that the description of the operation lacks");
  return std::get<kAt>(fields_of<Op>);
}

// The position of a described field in its table.
template <class Op, class Field>
consteval usize position_in_table() {
  usize at = TableOf<Op>::Traits::fields_number;
  for (usize i = 0; i < TableOf<Op>::Traits::fields_number; ++i) {
    if (Field::member == TableOf<Op>::Traits::field_names[i]) at = i;
  }
  return at;
}

// Calls visit(std::integral_constant<usize, I>...) with the positions of the fields of a table.
template <class Table, class Visit>
constexpr auto with_fields(Visit&& visit) {
  return [&]<usize... I>(std::index_sequence<I...>) { return visit(std::integral_constant<usize, I>{}...); }
  (std::make_index_sequence<Table::Traits::fields_number>());
}

template <class Op>
consteval bool same_position() {
  return static_cast<usize>(::vinci_vts::OpTraits<TableOf<Op>>::enum_value) == detail::Ops::index<Op> + 1;
}
#define VINCI_OP(op)                                                                                            \
  static_assert(TableOf<op>::Traits::fields_number == field_count<op>, "fields of " #op " in task_stream.fbs"); \
  static_assert(same_position<op>(), #op " is not where the union of task_stream.fbs has it");
VINCI_TASK_OPS(VINCI_OP)
#undef VINCI_OP

}  // namespace vinci::task
