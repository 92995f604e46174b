// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>

// The one thing of Ascend C that a C++ compiler cannot parse is a launch, name<T...><<<blocks, l2, stream>>>(args). The
// pre-pass rewrites launches of preprocessed text into calls of vinci::ascendc::run. Lines stay where they are, apart
// from those within a launch.
namespace vinci::ascendc {

// The headers leave marks for it where a macro of the language says what a kernel is: __vinci_global__,
// __vinci_vector__, __vinci_cube__, __vinci_mix__(cube, vector) and __vinci_task_type__(KERNEL_TYPE_...) in its body.
// They are removed. A kernel without any runs on vector cores. Throws Fault::Input with "line N of ..." where a launch
// is not closed.
std::string rewrite_launches(std::string_view preprocessed);

}  // namespace vinci::ascendc
