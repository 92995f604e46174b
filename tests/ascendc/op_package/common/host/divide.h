// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once
#include <cstdint>

namespace example {
int64_t Divide(int64_t a, int64_t b);
}
