// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/base/suggest.h"
#include "sim/config/problems.h"
#include "sim/task/files.h"
#include "sim/task/path.h"
#include "sim/task/task.h"

// Between the readers of the two spellings and the checks that they share. Only for sim/task.
namespace vinci::task {

// In place of an index: the reader has already reported that the name means nothing.
inline constexpr u32 kUnresolved = ~u32{0};
// In place of the size of a buffer: the reader has already reported what is wrong with the buffer.
inline constexpr u64 kUnresolvedBytes = ~u64{0};

// Bytes of names, texts, code and data that a file may expand to through aliases or shared offsets.
inline constexpr u64 kMaxExpandedBytes = u64{256} << 20;

// A task stream as one spelling says it: well formed, not yet verified.
struct Draft {
  TaskStream stream;
  std::unique_ptr<Locator> locator;
  config::Problems problems;
};

// Readers throw what makes the whole file unreadable and collect the rest. They call check_buffers(): a copy of a whole
// buffer needs to know its size.
void read_yaml(std::string_view text, const std::string& name, const Files& files, Draft& out);
void read_vts(std::span<const std::byte> bytes, const std::string& name, const Files& files, Draft& out);

// Whether the bytes carry the identifier of the binary spelling.
bool is_vts(std::span<const std::byte> bytes);

// Fills in what buffers leave to their files and checks them; then the sizes of all buffers are known.
void check_buffers(TaskStream& stream, const Locator& where, const Files& files, config::Problems& problems);
// Checks everything else. Both collect problems.
void check_rest(TaskStream& stream, const Locator& where, config::Problems& problems);

// The name of a task that its file does not name: its kernel, else what it does.
std::string default_task_name(const TaskStream& stream, const Task& task);

// did_you_mean() over names that a file chose, with bounded effort.
template <class List>
std::string nearest(std::string_view wrong, const List& items) {
  std::vector<std::string_view> names;
  for (const auto& item : items) {
    std::string_view candidate;
    if constexpr (requires { item.name; }) {
      candidate = item.name;
    } else {
      candidate = item;
    }
    if (candidate.size() <= 100) names.push_back(candidate);
    if (names.size() == 1000) break;
  }
  return did_you_mean(wrong, names);
}

// A text of the file inside a message: short and printable.
std::string shown(std::string_view text);

}  // namespace vinci::task
