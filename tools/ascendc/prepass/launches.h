// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

// What of Ascend C a C++ compiler cannot parse, or would refuse: the pre-pass rewrites it in preprocessed text. Lines
// stay where they are, apart from those within a launch.
namespace vinci::ascendc {

//   name<T...><<<blocks, l2, stream>>>(args)    a call of vinci::ascendc::launch
//   [aicore], [host, aicore]                    nothing
//   if ASCEND_IS_AIC                            if constexpr
//   __ubuf__ T a[n];                            __ubuf__ T* const a = memory of the core, for each such declaration its
//   own reinterpret_cast<__ubuf__ T*>(p)            ((__ubuf__ T*)(p)), which may come from another memory
// Throws Fault::Input with "line N of ..." where a launch is not closed.
std::string rewrite_launches(std::string_view preprocessed);

// The kernels that preprocessed text defines with the name of C, in no namespace.
std::vector<std::string> kernels_of_c(std::string_view preprocessed);

}  // namespace vinci::ascendc
