// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tests/fuzz/task_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const vinci::u8* data, vinci::usize size) {
  vinci::task::fuzz::check(data, size, "input.yaml");
  return 0;
}
