// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "of_a_package_that_is_not_there.h"

namespace optiling {
int32_t FunctionForAnotherChip() { return 0; }
}  // namespace optiling
