// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <stdio.h>

// The log of host code: warnings and errors go to the standard error, the rest nowhere. Names as programs that are public
// use them.
#define DLOG_DEBUG 0
#define DLOG_INFO 1
#define DLOG_WARN 2
#define DLOG_ERROR 3

#define VINCI_SLOG_NOTHING(...) static_cast<void>(0)
#define VINCI_SLOG(name, module, format, ...) \
  static_cast<void>(fprintf(stderr, "[" name "] " format "\n" __VA_OPT__(, ) __VA_ARGS__))
#define dlog_debug(...) VINCI_SLOG_NOTHING()
#define dlog_info(...) VINCI_SLOG_NOTHING()
#define dlog_warn(module, ...) VINCI_SLOG("WARN", module, __VA_ARGS__)
#define dlog_error(module, ...) VINCI_SLOG("ERROR", module, __VA_ARGS__)
#define CheckLogLevel(module, level) ((level) >= DLOG_WARN ? 1 : 0)
