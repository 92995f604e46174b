// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// Compiled as it is, and with each of the macros, which must not compile.
#include "isa/base/enums.h"
#include "isa/base/types.h"

namespace {

#ifdef GAP
enum class Unit : vinci::u8 { load, add, store = 4 };
#elif defined NOT_FROM_ZERO
enum class Unit : vinci::u8 { load = 1, add, store };
#else
enum class Unit : vinci::u8 { load, add, store };
#endif
static_assert(vinci::enum_count<Unit> == 3);
static_assert(vinci::enum_names<Unit>[0] == "load" && vinci::enum_names<Unit>[2] == "store");
static_assert(vinci::parse_enum<Unit>(vinci::enum_names<Unit>, "add") == Unit::add);
static_assert(!vinci::parse_enum<Unit>(vinci::enum_names<Unit>, "ad"));

constexpr auto kSigns = vinci::enum_table<Unit, char>({
    {Unit::add, '+'},
    {Unit::load, '<'},
#ifdef NO_ENUMERATOR
    {Unit::sub, '-'},
#endif
#ifdef SECOND_ENTRY
    {Unit::add, '>'},
#elif !defined MISSING_ENTRY
    {Unit::store, '>'},
#endif
});
static_assert(kSigns[0] == '<' && kSigns[1] == '+' && kSigns[2] == '>');

}  // namespace
