// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "sim/task/load.h"
#include "tools/capi/handles.h"

using vinci::Fault;
using vinci::capi::guarded;
using vinci::capi::need;
namespace task = vinci::task;

extern "C" {

vinci_status vinci_stream_load(const char* path, vinci_stream** out) {
  return guarded([&] {
    const char* file = &need(path, "path");
    vinci_stream*& result = need(out, "out");
    result = new vinci_stream{std::make_shared<task::TaskStream>(task::load_task_stream(file))};
  });
}

vinci_status vinci_stream_parse(const void* text, size_t bytes, const char* folder, vinci_stream** out) {
  return guarded([&] {
    const std::span data(&need(static_cast<const std::byte*>(text), "text"), bytes);
    vinci_stream*& result = need(out, "out");
    auto tasks = std::make_shared<task::TaskStream>(
        folder == nullptr ? task::parse_task_stream(data, "text", task::MemoryFiles())
                          : task::parse_task_stream(data, "text", task::FolderFiles(folder)));
    if (folder != nullptr) tasks->folder = folder;
    result = new vinci_stream{std::move(tasks)};
  });
}

void vinci_stream_destroy(vinci_stream* stream) { delete stream; }
const char* vinci_stream_name(const vinci_stream* stream) {
  return stream == nullptr ? "" : stream->tasks->name.c_str();
}
const char* vinci_stream_arch(const vinci_stream* stream) {
  return stream == nullptr ? "" : vinci::capi::arch_text(stream->tasks->arch);
}

vinci_status vinci_stream_set_input(vinci_stream* stream, const char* buffer, const void* data, size_t bytes) {
  return guarded([&] {
    auto& tasks = need(stream, "stream").tasks;
    const std::string name = &need(buffer, "buffer");
    std::vector<std::string> known;
    for (const task::Buffer& b : tasks->buffers) {
      if (b.place == task::Buffer::Place::host) known.push_back(b.name);
    }
    const auto at = std::ranges::find_if(
        tasks->buffers, [&](const task::Buffer& b) { return b.name == name && b.place == task::Buffer::Place::host; });
    if (at == tasks->buffers.end())
      vinci::fail(Fault::Input, "there is no host buffer '{}'{}", name, vinci::did_you_mean(name, known));
    if (bytes != at->bytes) vinci::fail(Fault::Input, "buffer '{}' has {} bytes, not {}", name, at->bytes, bytes);
    const auto* begin = static_cast<const std::byte*>(data);
    if (bytes > 0) need(begin, "data");
    std::vector<std::byte> contents(begin, begin + bytes);
    const auto index = at - tasks->buffers.begin();
    if (tasks.use_count() > 1) tasks = std::make_shared<task::TaskStream>(*tasks);
    task::Buffer& b = tasks->buffers[static_cast<size_t>(index)];
    b.data = std::move(contents);
    b.file.clear();
    b.random = false;
  });
}

vinci_status vinci_submit(const vinci_chip* chip, const vinci_stream* stream, const vinci_options* options,
                          vinci_run** out) {
  return guarded([&] {
    vinci_run*& result = need(out, "out");
    result = vinci::capi::make_run(need(chip, "chip").config, need(stream, "stream").tasks, options).release();
  });
}
}
