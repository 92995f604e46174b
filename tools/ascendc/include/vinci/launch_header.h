// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include "acl/acl.h"
#include "vinci/signature.h"

// What aclrtlaunch_NAME.h has: a function of that name, which launches the kernel NAME. The kernel is in another
// source, which has its signature where `vinci cc` compiled it.
#ifndef ACLRT_LAUNCH_KERNEL
#define ACLRT_LAUNCH_KERNEL(kernel) aclrtlaunch_##kernel
#endif
#define VINCI_LAUNCH_HEADER(kernel)                                                                           \
  extern "C" void kernel();                                                                                   \
  extern "C" __attribute__((weak)) ::vinci::ascendc::Signature vinci_signature_##kernel;                      \
  template <class... A>                                                                                       \
  uint32_t aclrtlaunch_##kernel(::vinci::ascendc::Blocks blocks, aclrtStream stream, A... arguments) {        \
    ::vinci::ascendc::launch_by_signature(                                                                    \
        {#kernel, ::vinci::ascendc::KernelType::declared, blocks.count, (void*)stream, blocks.place}, kernel, \
        &vinci_signature_##kernel, arguments...);                                                             \
    return ACL_SUCCESS;                                                                                       \
  }
