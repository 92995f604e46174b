// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "isa/insn.h"
#include "isa/insns/scalar.h"

namespace vinci::isa::insn {}
