// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/task/files.h"
#include "sim/task/task.h"

// The one door for task streams: whatever comes out of here has been verified. Errors are Fault::Input, located at
// "file:line:column" (YAML) or "file: streams[0].tasks[3]..." (.vts); all problems of a file, up to 20, in one error.
namespace vinci::task {

inline constexpr u32 kFormatVersion = 1;
inline constexpr u64 kMaxBufferBytes = u64{64} << 30;  // of the buffers of the host, and of each device
inline constexpr u64 kMaxTasks = 1'000'000;            // of all streams together
inline constexpr u64 kMaxNameBytes = 64 * 1024;
inline constexpr u64 kMaxArgs = 8191;  // of a launch: their size in bytes is a 16-bit field of the task
inline constexpr u32 kMaxBlockDim = 65535;
inline constexpr double kMaxSeconds =
    9000;  // of a kernel or a step of the host that states its time; simulated time ends at 9,223 s
inline constexpr u64 kMaxRepeats = 1'000'000'000'000;  // of a repeat of the host
inline constexpr u32 kMaxRepeatNesting = 16;           // repeats inside each other
inline constexpr u64 kMaxSemaphore = u64{1} << 32;     // initial count

// Reads and verifies a task stream, in either spelling, and what it names; relative files are looked up beneath its
// folder.
TaskStream load_task_stream(const std::string& path);

// The same from memory: messages show `name` in place of the path, `files` takes the place of the folder.
TaskStream parse_task_stream(std::span<const std::byte> bytes, const std::string& name, const Files& files);

// Checks a task stream that a program has built, as loading does; messages begin with `name`. Sizes and types
// that buffers leave open are filled in from their files.
void verify(TaskStream& stream, const std::string& name, const Files& files);

// The initial contents of a host buffer: exactly its bytes, or empty, which means zeros. Reads the file now.
std::vector<std::byte> initial_data(const TaskStream& stream, u32 buffer);

// Writes the final contents of a buffer with an `output` into `folder`: as .npy where the name ends so, else raw.
void write_output(const TaskStream& stream, u32 buffer, std::span<const std::byte> contents, const std::string& folder);

}  // namespace vinci::task
