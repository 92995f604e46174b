// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "isa/table/public_names.h"

namespace vinci::isa {

// An intrinsic on a data type, as the platform files of the runtime list them for a chip (hicann/runtime,
// platform_config/cann: Ascend910A c100, Ascend310P3 m200, Ascend910B1 c220; none for m100).
struct PublicForm {
  std::string_view intrinsic, type;  // names of the platform files: "mmad", "s32s8s8"
  Arch arch{};
  std::string spelling;     // in assembly: "mad.s8"; empty: refused. Of the six comparisons of vcmp, the first
  std::string_view reason;  // why it is refused
};

// All of them; names of FIXPIPE and of data movement mean the instruction that does it.
std::span<const PublicForm> public_forms();
PublicCount count_public_forms(Arch arch);

}  // namespace vinci::isa
