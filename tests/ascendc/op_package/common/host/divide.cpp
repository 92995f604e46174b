// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "divide.h"

namespace example {
int64_t Divide(int64_t a, int64_t b) { return b == 0 ? a : a / b; }
}  // namespace example
