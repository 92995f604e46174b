// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstddef>
#include <memory>

#include "isa/base/types.h"

namespace vinci::isa {

// Bytes that are zero and cost nothing until they are touched (calloc clears them once a program has freed a large
// block). They start on a cache line of the host.
class ZeroPages {
 public:
  static constexpr usize kAlignment = 64;

  ZeroPages() : ZeroPages(0) {}
  explicit ZeroPages(usize bytes) : bytes_(bytes == 0 ? nullptr : allocate(bytes), Free{bytes}) {}

  std::byte* data() const { return bytes_.get(); }

 private:
  static std::byte* allocate(usize bytes);
  struct Free {
    usize bytes;
    void operator()(std::byte* at) const;
  };
  std::unique_ptr<std::byte, Free> bytes_;
};

}  // namespace vinci::isa
