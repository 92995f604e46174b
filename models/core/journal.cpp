// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "models/core/journal.h"

namespace vinci::models {

void Journal::blame(const Error& e, u32 pc, const isa::Issued* inst, std::string_view unit) const {
  failed(pc, inst, e);
  throw Error(e.fault(),
              fmt::format("{}{}\n  task '{}', {}, {}, PIPE_{}", e.message(),
                          inst != nullptr ? "\n  in " + isa::to_string(*inst) : std::string(), block_.task,
                          block_.where, name_, unit),
              e.location().empty() ? block_.code->place(pc) : e.location());
}

}  // namespace vinci::models
