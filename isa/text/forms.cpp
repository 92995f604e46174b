// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/text/forms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "isa/table/public_names.h"
#include "isa/table/table.h"
#include "isa/text/text.h"

namespace vinci::isa::text {
namespace {

std::string type_names(const Row& row, Arch arch) {
  std::vector<std::string> names;
  for (const TypeForm& t : row.types) {
    if (contains(t.archs, arch)) names.push_back(fmt::format("{}.{}", row.name, t.name));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// A name that no row has. Of a public intrinsic, the text says how to write it or why it is missing.
[[noreturn]] void fail_unknown(std::string_view name) {
  const PublicName* known = public_name(name);
  if (known == nullptr)
    fail(Fault::Input, "no instruction is called {}{}", quote(name), did_you_mean(name, mnemonics()));
  if (known->row != nullptr) fail(Fault::Input, "write {} for {}", known->spelling, known->name);
  fail(Fault::Unsupported, "{} is a public name, but not supported: {}", known->name, known->reason);
}

}  // namespace

const Row& find_row(std::string_view mnemonic) {
  const Row* row = row_of(mnemonic);
  if (row == nullptr) fail_unknown(mnemonic);
  return *row;
}

void check_arch(const Row& row, Arch arch) {
  if (contains(row.archs, arch)) return;
  fail(Fault::Input, "{} does not exist on {}, only on {}", row.name, name(arch), arch_names(row.archs));
}

u8 find_type(const Row& row, std::optional<std::string_view> type, Arch arch) {
  if (row.types.empty()) {
    if (type) fail(Fault::Input, "{} has no types", row.name);
    return 0;
  }
  if (!type && row.first_type_is_default) return 0;
  if (!type) {
    fail(Fault::Input, "{} needs a type; on {} there is {}", row.name, name(arch), type_names(row, arch));
  }
  const auto it = std::ranges::find(row.types, *type, &TypeForm::name);
  if (it == row.types.end()) {
    fail(Fault::Input, "{} has no type {}; on {} there is {}", row.name, quote(*type), name(arch),
         type_names(row, arch));
  }
  if (!contains(it->archs, arch)) {
    fail(Fault::Input, "{}.{} does not exist on {}; there is {}", row.name, *type, name(arch), type_names(row, arch));
  }
  return static_cast<u8>(it - row.types.begin());
}

u64 in_range(const Row& row, const FieldInfo& field, Wide number) {
  const bool negative_allowed = field.is_signed || field.width >= 64;
  const Wide low = negative_allowed ? -(Wide{1} << (std::min<unsigned>(field.width, 64) - 1)) : Wide{0};
  const Wide high = field.is_signed ? -low - 1 : (Wide{1} << field.width) - 1;
  if (number < low || number > high)
    fail(Fault::Input, "{}: {} = {} is not in [{}, {}]", row.name, field.name, number, low, high);
  return static_cast<u64>(number);
}

std::string arch_names(ArchSet set) {
  std::vector<std::string_view> names;
  for (usize i = 0; i < kArchNames.size(); ++i) {
    if (contains(set, static_cast<Arch>(i))) names.push_back(kArchNames[i]);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_reserved(std::string_view name) {
  return parse_register(name).has_value() || name.starts_with(kPipePrefix) || name.starts_with(kEventPrefix);
}

}  // namespace vinci::isa::text
