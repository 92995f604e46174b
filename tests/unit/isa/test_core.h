// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "isa/table/exec.h"
#include "isa/table/insn.h"

namespace vinci::isa {

// Memory and registers of one core for a test of meanings; sizes are small enough to leave by accident.
struct TestCore {
  explicit TestCore(Arch a = Arch::c220, OverflowMode mode = OverflowMode::inf_nan)
      : context{mem, spr, a, mode, status, results} {}

  template <class I>
  void run(const typename I::Args& args) {
    I::execute(args, context);
  }

  GlobalMemory gm;
  CoreMem mem{BufSizes{0, 128 << 10, 64 << 10, 64 << 10, 256 << 10, 64 << 10, 1 << 10, 7 << 10, 16 << 10}, gm};
  Spr spr;
  u64 status = 0;
  ResultRegisters results;
  ExecContext context;
};

template <class T>
T gm_load(const GlobalMemory& gm, u64 address) {
  T v{};
  gm.read(address, std::as_writable_bytes(std::span(&v, 1)));
  return v;
}

template <class T>
void gm_store(GlobalMemory& gm, u64 address, T v) {
  gm.write(address, std::as_bytes(std::span(&v, 1)));
}

// What `f` throws, as "fault: message"; "" when it throws nothing.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return std::string(fault_name(e.fault())) + ": " + e.what();
  }
  return "";
}

}  // namespace vinci::isa
