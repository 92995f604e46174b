// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

// bfloat16 as the compiler has it: numbers are rounded to nearest even on the way in, and compute as float.
using bfloat16_t = __bf16;
