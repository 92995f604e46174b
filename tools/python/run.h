// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/python/arguments.h"

namespace vinci::python {

// An array that a task of a device fills: the run writes `staged`, and the array gets it afterwards, if its bytes are
// still where they were. bytearray and array.array refuse to change their size meanwhile; numpy does it when told not
// to look for references, also where the array is a view of the one that changes.
struct CopyOut {
  // An array of numpy, and where its bytes were.
  struct Place {
    explicit Place(const pybind11::object& of);
    bool is_same() const;

    pybind11::object array;
    std::uintptr_t at = 0;
    std::size_t bytes = 0;
  };

  pybind11::buffer array;
  Bytes bytes;
  std::unique_ptr<std::byte[]> staged;
  std::vector<Place> seen_through;  // the arrays of numpy that it is a view of

  explicit CopyOut(const pybind11::buffer& into);
  bool deliver() const;  // false: the array was resized
};

// A run, and what must live until it is done.
class Run {
 public:
  Run(vinci_run* run, std::shared_ptr<vinci_device> device, std::vector<CopyOut> outs)
      : device_(std::move(device)), handle_(run), outs_(std::move(outs)) {}

  // Ctrl-C and other signals whose handler throws cancel the run.
  void wait();
  vinci_run* get() const { return handle_.get(); }
  std::uint64_t counter(const std::string& path) const;

 private:
  std::shared_ptr<vinci_device> device_;
  Handle<vinci_run, vinci_run_destroy> handle_;
  std::vector<CopyOut> outs_;
};

}  // namespace vinci::python
