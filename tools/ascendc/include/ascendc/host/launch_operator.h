// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "acl/acl.h"

// What the program that `vinci op` writes launches a kernel with. docs/operators.md
namespace vinci::ascendc::host {

class Launch {
 public:
  // With `pool` bytes, one allocation has all tensors, as the allocator of a framework has it.
  explicit Launch(std::uint64_t pool = 0) {
    check(aclInit(nullptr), "aclInit");
    check(aclrtSetDevice(0), "aclrtSetDevice");
    check(aclrtCreateStream(&stream_), "aclrtCreateStream");
    if (pool == 0) return;
    next_ = memory(pool) + kUnit;
    end_ = next_ - kUnit + pool;
  }
  // What a tensor takes of a pool: there is room in front of the first one and behind the last one.
  static constexpr std::uint64_t kUnit = 512;
  // DataCopy moves whole blocks, also of a tensor of two bytes; aclrtMalloc of a device has that room.
  static constexpr std::uint64_t kBlock = 32;
  aclrtStream stream() const { return stream_; }

  // Global memory; null for no bytes.
  std::uint8_t* memory(std::uint64_t bytes) {
    if (bytes == 0) return nullptr;
    if (next_ != nullptr) {
      std::uint8_t* const at = next_;
      next_ += (bytes + 2 * kUnit - 1) / kUnit * kUnit;
      if (next_ > end_) stop("the pool", "is too small");
      return at;
    }
    void* at = nullptr;
    check(aclrtMalloc(&at, (bytes + kBlock - 1) / kBlock * kBlock, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    return static_cast<std::uint8_t*>(at);
  }
  // With the contents of a file of that size.
  std::uint8_t* input(const char* file, std::uint64_t bytes) {
    std::vector<char> data(bytes);
    std::ifstream in(file, std::ios::binary);
    if (bytes != 0 && !in.read(data.data(), static_cast<std::streamsize>(bytes))) stop(file, "cannot be read");
    std::uint8_t* const at = memory(bytes == 0 ? kEmpty : bytes);
    if (bytes != 0) check(aclrtMemcpy(at, bytes, data.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
    return at;
  }
  // Written to a file at the end.
  std::uint8_t* output(const char* file, std::uint64_t bytes, bool zeroed) {
    return written(memory(bytes == 0 ? kEmpty : bytes), file, bytes, zeroed);
  }
  std::uint8_t* written(std::uint8_t* at, const char* file, std::uint64_t bytes, bool zeroed) {
    if (zeroed && bytes != 0) check(aclrtMemset(at, bytes, 0, bytes), "aclrtMemset");
    outputs_.push_back({at, file, bytes});
    return at;
  }

  struct Piece {
    std::uint8_t* at;
    std::vector<std::uint64_t> dims;
  };
  // The tensors of a dynamic input or output, as ListTensorDesc reads them.
  std::uint8_t* list(const std::vector<Piece>& pieces) {
    std::vector<std::uint64_t> words{0};
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      words.push_back(pieces[i].dims.size() | (std::uint64_t{i} << 32));
      words.insert(words.end(), pieces[i].dims.begin(), pieces[i].dims.end());
    }
    words[0] = words.size() * sizeof(std::uint64_t);
    for (const Piece& piece : pieces)
      words.push_back(reinterpret_cast<std::uint64_t>(piece.at));
    const std::uint64_t bytes = words.size() * sizeof(std::uint64_t);
    std::uint8_t* const at = memory(bytes);
    check(aclrtMemcpy(at, bytes, words.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
    return at;
  }

  // Waits for the kernel and writes the outputs. The exit code of the program.
  int finish() {
    check(aclrtSynchronizeStream(stream_), "aclrtSynchronizeStream");
    for (const Output& o : outputs_) {
      std::vector<char> data(o.bytes);
      if (o.bytes != 0)
        check(aclrtMemcpy(data.data(), o.bytes, o.at, o.bytes, ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");
      std::ofstream out(o.file, std::ios::binary);
      if (!out.write(data.data(), static_cast<std::streamsize>(o.bytes)).flush())
        stop(o.file.c_str(), "cannot be written");
    }
    check(aclrtDestroyStream(stream_), "aclrtDestroyStream");
    check(aclrtResetDevice(0), "aclrtResetDevice");
    return aclFinalize() == 0 ? 0 : 1;
  }

 private:
  static constexpr std::uint64_t kEmpty = 32;  // a tensor without elements has an address
  struct Output {
    std::uint8_t* at;
    std::string file;
    std::uint64_t bytes;
  };
  [[noreturn]] static void stop(const char* what, const char* why) {
    std::fprintf(stderr, "%s %s\n", what, why);
    std::exit(2);
  }
  static void check(int code, const char* call) {
    if (code != 0) stop(call, "failed");
  }

  aclrtStream stream_ = nullptr;
  std::uint8_t *next_ = nullptr, *end_ = nullptr;  // of the pool
  std::vector<Output> outputs_;
};

}  // namespace vinci::ascendc::host
