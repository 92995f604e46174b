// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

// The one place that includes SystemC; the define must come before it.
#define SC_INCLUDE_DYNAMIC_PROCESSES
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <systemc>
#pragma GCC diagnostic pop
