// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "isa/codec.h"
#include "isa/text.h"
#include "sim/io/npy.h"
#include "sim/task/draft.h"
#include "sim/task/load.h"

namespace vinci::task {
namespace {

// Well-formed UTF-8 without control characters: what both spellings and every report can carry.
bool is_text(std::string_view s) {
  for (usize i = 0; i < s.size();) {
    const auto c = static_cast<u8>(s[i]);
    if (c < 0x20 || c == 0x7f) return false;
    if (c < 0x80) {
      ++i;
      continue;
    }
    const usize length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4 || i + length > s.size()) return false;
    u32 code = c & (0x7fu >> length);
    for (usize k = 1; k < length; ++k) {
      const auto d = static_cast<u8>(s[i + k]);
      if ((d & 0xc0) != 0x80) return false;
      code = code << 6 | (d & 0x3fu);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool special = (code >= 0xd800 && code < 0xe000) || code > 0x10ffff || code < 0xa0 || code == 0x2028 ||
                         code == 0x2029 || code == 0xfeff || (code & 0xfffe) == 0xfffe;
    if (overlong || special) return false;
    i += length;
  }
  return true;
}

// Bytes from the first to behind the last of `height` rows, or nothing where that leaves 64 bits.
std::optional<u64> extent(u64 width, u64 height, u64 pitch) {
  u64 bytes = 0;
  if (__builtin_mul_overflow(height - 1, pitch, &bytes) || __builtin_add_overflow(bytes, width, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

// The rules that both spellings share.
class Checker {
 public:
  Checker(TaskStream& stream, const Locator& where, const Files& files, config::Problems& problems)
      : s_(stream), where_(where), files_(files), problems_(problems) {}

  // Both parts together check everything; the first makes the sizes of buffers known.
  void run_buffers() {
    check_names("buffers", s_.buffers);
    check_buffers();
  }

  void run_rest() {
    // A name that is not there has been reported as such.
    const char* why = s_.name.empty() && problems_.any() ? nullptr : why_bad_name(s_.name);
    if (why != nullptr) report(Path{} / "name", "the name of the task stream {}", why);
    check_names("kernels", s_.kernels);
    check_names("events", s_.events);
    check_names("streams", s_.streams);
    for (usize k = 0; k < s_.kernels.size(); ++k)
      check_kernel(s_.kernels[k], Path{} / "kernels" / k);
    check_streams();
    // Circles are searched in streams that are otherwise sound.
    if (!problems_.any()) check_circles();
    if (!problems_.any()) name_tasks();
  }

 private:
  template <class... A>
  void report(const Path& path, fmt::format_string<A...> text, A&&... args) {
    // Beyond what is shown, problems are only counted.
    problems_.full() ? problems_.add({}, {})
                     : problems_.add(where_.at(path), fmt::format(text, std::forward<A>(args)...));
  }

  static const char* why_bad_name(std::string_view s) {
    if (s.empty()) return "is empty";
    if (s.size() > kMaxNameBytes) return "is longer than 64 KiB";
    if (!is_text(s)) return "contains control characters or is not UTF-8";
    return nullptr;
  }

  template <class Named>
  static const std::string& name_of(const Named& item) {
    if constexpr (requires { item.name; }) {
      return item.name;
    } else {
      return item;
    }
  }

  template <class Named>
  void check_names(std::string_view list, const std::vector<Named>& items) {
    std::map<std::string_view, usize> seen;
    for (usize i = 0; i < items.size(); ++i) {
      const std::string& name = name_of(items[i]);
      if (const char* why = why_bad_name(name)) report(Path{} / list / i, "the name {}", why);
      if (!seen.emplace(name, i).second) report(Path{} / list / i, "{} has '{}' twice", list, shown(name));
    }
  }

  // -------------------------------------------------------------------------------------------------------------------

  void check_buffers() {
    u64 total = 0;
    bool too_much = false;
    std::set<std::string> outputs;
    for (usize i = 0; i < s_.buffers.size(); ++i) {
      Buffer& b = s_.buffers[i];
      const Path path = Path{} / "buffers" / i;
      check_buffer(b, path);
      if (!b.output.empty() && !outputs.insert(std::filesystem::path(b.output).lexically_normal().string()).second) {
        report(path / "output", "two buffers are written to '{}'", shown(b.output));
      }
      if (!too_much && !unresolved(b) && (__builtin_add_overflow(total, b.bytes, &total) || total > kMaxBufferBytes)) {
        report(path / "bytes", "with buffer '{}' of {} bytes, the buffers have more than {} bytes together",
               shown(b.name), b.bytes, kMaxBufferBytes);
        too_much = true;
      }
    }
  }

  void check_buffer(Buffer& b, const Path& path) {
    if (b.shape.size() > 32) {
      report(path / "shape", "a shape of {} dimensions; at most 32 are possible", b.shape.size());
      return;
    }
    if (unresolved(b)) {
      if (!b.dtype.empty()) check_type_name(b, path);
      return;
    }
    if (b.place == Buffer::Place::device) {
      for (const auto& [key, given] : {std::pair{"file", !b.file.empty()}, std::pair{"data", !b.data.empty()},
                                       std::pair{"output", !b.output.empty()}, std::pair{"random", b.random}}) {
        if (given) {
          report(path / key, "buffer '{}' is on the device: only host buffers have {}; copy with memcpy_async",
                 shown(b.name), key);
          return;
        }
      }
    }
    if (!b.file.empty() && !b.data.empty()) {
      report(path / "data", "buffer '{}' has both a file and data", shown(b.name));
      return;
    }
    if (b.random && (!b.file.empty() || !b.data.empty())) {
      report(path / "random", "buffer '{}' is random, but has contents", shown(b.name));
      return;
    }
    if (!b.file.empty() && !fill_from_file(b, path)) return;
    if (!b.data.empty()) {
      if (b.bytes == 0) b.bytes = b.data.size();
      if (b.bytes != b.data.size()) {
        report(path / "data", "buffer '{}' has {} bytes, but its data has {}", shown(b.name), b.bytes, b.data.size());
        return;
      }
    }
    if (!b.dtype.empty()) {
      if (!check_type(b, path)) return;
    } else if (!b.shape.empty()) {
      report(path / "shape", "buffer '{}' has a shape but no dtype", shown(b.name));
      return;
    }
    if (b.bytes == 0) {
      report(path, "buffer '{}' has no bytes; give 'bytes', or a dtype with a shape, or a file", shown(b.name));
    }
    if (!b.output.empty()) check_output(b, path);
  }

  bool unresolved(const Buffer& b) const { return b.bytes == kUnresolvedBytes && problems_.any(); }

  bool check_type_name(const Buffer& b, const Path& path) {
    if (io::npy_element_bytes(b.dtype) != 0) return true;
    report(path / "dtype", "unknown dtype '{}'; known are {}{}", shown(b.dtype), fmt::join(io::kNpyTypes, " "),
           did_you_mean(b.dtype, io::kNpyTypes));
    return false;
  }

  bool check_type(Buffer& b, const Path& path) {
    if (!check_type_name(b, path)) return false;
    if (b.shape.empty()) {
      if (b.bytes % io::npy_element_bytes(b.dtype) == 0) return true;
      report(path / "dtype", "buffer '{}' of {} bytes holds no whole number of {}", shown(b.name), b.bytes, b.dtype);
      return false;
    }
    try {
      const u64 bytes = io::npy_bytes(b.dtype, b.shape);
      if (b.bytes == 0) b.bytes = bytes;
      if (bytes == b.bytes) return true;
      report(path / "shape", "buffer '{}' has {} bytes, but shape [{}] of {} has {}", shown(b.name), b.bytes,
             fmt::join(b.shape, ", "), b.dtype, bytes);
    } catch (const Error& e) {
      report(path / "shape", "{}", e.message());
    }
    return false;
  }

  void check_output(const Buffer& b, const Path& path) {
    std::string why = why_not_relative(b.output);
    if (why.empty() && !is_text(b.output)) why = "the file name contains control characters or is not UTF-8";
    if (!why.empty()) {
      report(path / "output", "{}", why);
    } else if (b.output.ends_with(".npy") && b.dtype.empty()) {
      report(path / "output", "'{}' needs a dtype: a .npy file says what its elements are", shown(b.output));
    }
  }

  // What the file says fills the gaps; what the task stream says as well must agree.
  bool fill_from_file(Buffer& b, const Path& path) {
    try {
      if (!is_text(b.file)) fail(Fault::Input, "the file name contains control characters or is not UTF-8");
      u64 bytes = files_.size(b.file);
      if (b.file.ends_with(".npy")) {
        const auto head = files_.read(b.file, 0, std::min(bytes, io::kNpyMaxHeaderBytes));
        io::NpyHeader h = io::parse_npy_header(head, bytes, b.file);
        bytes = h.data_bytes;
        if (h.shape.empty()) h.shape = {1};
        if (!b.dtype.empty() && b.dtype != h.dtype) {
          report(path / "dtype", "buffer '{}' is {}, but {} holds {}", shown(b.name), b.dtype, b.file, h.dtype);
          return false;
        }
        if (!b.shape.empty() && b.shape != h.shape) {
          report(path / "shape", "buffer '{}' has shape [{}], but {} has [{}]", shown(b.name), fmt::join(b.shape, ", "),
                 b.file, fmt::join(h.shape, ", "));
          return false;
        }
        b.dtype = h.dtype;
        b.shape = h.shape;
      }
      if (b.bytes == 0) b.bytes = bytes;
      if (b.bytes == bytes) return true;
      report(path / "bytes", "buffer '{}' has {} bytes, but {} has {}", shown(b.name), b.bytes, b.file, bytes);
    } catch (const Error& e) {
      report(path / "file", "{}", e.what());
    }
    return false;
  }

  // -------------------------------------------------------------------------------------------------------------------

  void check_kernel(const Kernel& k, const Path& path) {
    const bool split = isa::contains(isa::kSplitArchs, s_.arch);
    if (split == (k.type == KernelType::AI_CORE)) {
      report(path / "type", "kernel '{}': type {} does not exist on {}; use {}", shown(k.name),
             kKernelTypeNames[static_cast<usize>(k.type)], isa::name(s_.arch),
             split ? "AIC_ONLY or AIV_ONLY" : "AI_CORE");
    }
    // A reader that could not make a program has said why.
    if (k.program.code.empty() && problems_.any()) return;
    if (k.program.arch != s_.arch) {
      report(path / "program", "kernel '{}' is a program for {}, but the task stream is for {}", shown(k.name),
             isa::name(k.program.arch), isa::name(s_.arch));
      return;
    }
    if (!is_text(k.program.source)) {
      report(path / "program", "kernel '{}': the source name contains control characters or is not UTF-8",
             shown(k.name));
      return;
    }
    std::set<std::string_view> labels;
    for (const isa::Label& l : k.program.labels) {
      if (!isa::is_name(l.name) || l.name.size() > isa::kMaxNameLength || !labels.insert(l.name).second) {
        report(path / "program", "kernel '{}': label '{}' is no name, or there twice", shown(k.name), shown(l.name));
        return;
      }
    }
    try {
      isa::verify(k.program);
    } catch (const Error& e) {
      report(path / "program", "kernel '{}': {}", shown(k.name), e.what());
    }
  }

  // -------------------------------------------------------------------------------------------------------------------

  void check_streams() {
    recorded_.assign(s_.events.size(), false);
    u64 count = 0;
    for (const Stream& stream : s_.streams) {
      count += stream.tasks.size();
      for (const Task& t : stream.tasks) {
        const auto* record = std::get_if<EventRecord>(&t.op);
        if (record != nullptr && record->event < recorded_.size()) recorded_[record->event] = true;
      }
    }
    if (count > kMaxTasks) report(Path{} / "streams", "{} tasks; at most {} are possible", count, kMaxTasks);
    for (usize i = 0; i < s_.streams.size(); ++i) {
      for (usize t = 0; t < s_.streams[i].tasks.size(); ++t) {
        Task& task = s_.streams[i].tasks[t];
        const Path path = Path{} / "streams" / i / "tasks" / t;
        if (!task.name.empty() && why_bad_name(task.name) != nullptr) {
          report(path / "name", "the name of the task {}", why_bad_name(task.name));
        }
        std::visit([&](auto& op) { check_op(op, path / kOpNames[task.op.index()]); }, task.op);
      }
    }
  }

  // Whether the index means something; an index that no name led to has been reported.
  template <class T>
  bool known(u32 index, const std::vector<T>& list, std::string_view what, const Path& path) {
    if (index < list.size()) return true;
    if (index != kUnresolved || !problems_.any()) {
      report(path, "{} {} does not exist; there are {}", what, index, list.size());
    }
    return false;
  }

  void check_op(KernelLaunch& op, const Path& path) {
    const bool kernel_known = known(op.kernel, s_.kernels, "kernel", path / "kernel");
    if (op.mix() || op.aiv_kernel != 0) check_mix(op, kernel_known, path);
    if (op.block_dim == 0 || op.block_dim > kMaxBlockDim) {
      report(path / "block_dim", "block_dim = {} is not in [1, {}]", op.block_dim, kMaxBlockDim);
    }
    if (op.args.size() > kMaxArgs) report(path / "args", "{} arguments; at most {} fit", op.args.size(), kMaxArgs);
    for (usize a = 0; a < op.args.size(); ++a) {
      const Slice* slice = std::get_if<Slice>(&op.args[a]);
      if (slice == nullptr || !known(slice->buffer, s_.buffers, "buffer", path / "args" / a)) continue;
      const Buffer& b = s_.buffers[slice->buffer];
      if (unresolved(b)) continue;
      if (b.place != Buffer::Place::device) {
        report(path / "args" / a, "kernel argument '{}' is a host buffer; kernels reach device buffers only",
               shown(b.name));
      } else if (slice->offset >= b.bytes && b.bytes != 0) {
        report(path / "args" / a, "offset {} is outside buffer '{}' of {} bytes", slice->offset, shown(b.name),
               b.bytes);
      }
    }
  }

  void check_mix(const KernelLaunch& op, bool kernel_known, const Path& path) {
    if (op.aivs == 0 || op.aivs > kMixTypeNames.size()) {
      report(path / "aivs", "a MIX task with {} vector cores for each cube core; there are {}", op.aivs,
             fmt::join(kMixTypeNames, " and "));
      return;
    }
    const auto need_type = [&](u32 kernel, KernelType type, const Path& where) {
      const Kernel& k = s_.kernels[kernel];
      if (k.type == type) return;
      report(where, "{}: kernel '{}' is of type {}, but must be {} here", kMixTypeNames[op.aivs - 1], shown(k.name),
             kKernelTypeNames[static_cast<usize>(k.type)], kKernelTypeNames[static_cast<usize>(type)]);
    };
    if (kernel_known) need_type(op.kernel, KernelType::AIC_ONLY, path / "kernel");
    if (known(op.aiv_kernel, s_.kernels, "kernel", path / "aiv_kernel"))
      need_type(op.aiv_kernel, KernelType::AIV_ONLY, path / "aiv_kernel");
  }

  void check_op(MemcpyAsync& op, const Path& path) {
    const bool both = static_cast<int>(known(op.dst.buffer, s_.buffers, "buffer", path / "dst")) &
                      static_cast<int>(known(op.src.buffer, s_.buffers, "buffer", path / "src"));
    if (!both) return;
    const Buffer& dst = s_.buffers[op.dst.buffer];
    const Buffer& src = s_.buffers[op.src.buffer];
    if (!unresolved(dst) && !unresolved(src) && dst.place == Buffer::Place::host && src.place == Buffer::Place::host) {
      report(path / "dst", "'{}' and '{}' are both on the host; memcpy_async moves H2D, D2H or D2D", shown(src.name),
             shown(dst.name));
      return;
    }
    if (op.width == 0 || op.height == 0) {
      report(path, "memcpy_async of {} bytes by {} rows moves nothing", op.width, op.height);
      return;
    }
    if (op.dst_pitch == 0) op.dst_pitch = op.width;
    if (op.src_pitch == 0) op.src_pitch = op.width;
    // The pitch of a single row means nothing; one spelling of it keeps equal streams equal.
    if (op.height == 1) op.dst_pitch = op.src_pitch = op.width;
    for (const auto& [key, pitch] : {std::pair{"dst_pitch", op.dst_pitch}, std::pair{"src_pitch", op.src_pitch}}) {
      if (pitch < op.width) {
        report(path / key, "{} = {} is smaller than width = {}: rows would overlap", key, pitch, op.width);
        return;
      }
    }
    if (unresolved(dst) || unresolved(src)) return;
    const bool inside = static_cast<int>(check_slice(op.dst, op.width, op.height, op.dst_pitch, path / "dst")) &
                        static_cast<int>(check_slice(op.src, op.width, op.height, op.src_pitch, path / "src"));
    const u64 distance = std::max(op.dst.offset, op.src.offset) - std::min(op.dst.offset, op.src.offset);
    if (inside && op.dst.buffer == op.src.buffer && op.height == 1 && distance < op.width) {
      report(path / "dst", "source and destination overlap in buffer '{}'", shown(dst.name));
    }
  }

  void check_op(MemsetAsync& op, const Path& path) {
    if (!known(op.dst.buffer, s_.buffers, "buffer", path / "dst")) return;
    const Buffer& dst = s_.buffers[op.dst.buffer];
    if (unresolved(dst)) return;
    if (dst.place != Buffer::Place::device) {
      report(path / "dst", "memset_async fills device buffers; '{}' is on the host", shown(dst.name));
    } else if (op.bytes == 0) {
      report(path, "memset_async of 0 bytes sets nothing");
    } else {
      check_slice(op.dst, op.bytes, 1, op.bytes, path / "dst");
    }
  }

  void check_op(EventRecord& op, const Path& path) { known(op.event, s_.events, "event", path); }

  void check_op(StreamWaitEvent& op, const Path& path) {
    if (!known(op.event, s_.events, "event", path) || recorded_[op.event]) return;
    report(path, "event '{}' is waited for but never recorded", shown(s_.events[op.event]));
  }

  // Whether a buffer that is freed is still needed depends on how the streams run: that is a fault of the run.
  void check_op(Free& op, const Path& path) {
    if (!known(op.buffer, s_.buffers, "buffer", path)) return;
    const Buffer& b = s_.buffers[op.buffer];
    if (!unresolved(b) && b.place != Buffer::Place::device) {
      report(path, "free returns device memory; '{}' is on the host", shown(b.name));
    }
  }

  void check_op(NpuGetFloatStatus& op, const Path& path) {
    if (!known(op.dst.buffer, s_.buffers, "buffer", path / "dst")) return;
    const Buffer& dst = s_.buffers[op.dst.buffer];
    if (unresolved(dst)) return;
    if (dst.place != Buffer::Place::device) {
      report(path / "dst", "npu_get_float_status writes device buffers; '{}' is on the host", shown(dst.name));
    } else {
      check_slice(op.dst, NpuGetFloatStatus::kBytes, 1, NpuGetFloatStatus::kBytes, path / "dst");
    }
  }

  void check_op(NpuClearFloatStatus&, const Path&) {}

  template <class Op>
  void check_op(Op&, const Path& path) {
    report(path, "tasks of this kind cannot be loaded");
  }

  bool check_slice(const Slice& slice, u64 width, u64 height, u64 pitch, const Path& path) {
    const Buffer& b = s_.buffers[slice.buffer];
    if (b.bytes == 0) return false;  // reported with the buffer
    const std::optional<u64> bytes = extent(width, height, pitch);
    if (bytes && slice.offset <= b.bytes && *bytes <= b.bytes - slice.offset) return true;
    if (height == 1) {
      report(path, "[{}, +{}) is outside buffer '{}' of {} bytes", slice.offset, width, shown(b.name), b.bytes);
    } else {
      report(path, "{} rows of {} bytes, {} apart, from {} on, are not all inside buffer '{}' of {} bytes", height,
             width, pitch, slice.offset, shown(b.name), b.bytes);
    }
    return false;
  }

  // -------------------------------------------------------------------------------------------------------------------

  // Runs the streams in order, each until it waits for an event that has not happened. What then still waits can never
  // go on: an event that has been recorded stays so, hence the order in which streams run does not matter.
  void check_circles() {
    std::vector<usize> next(s_.streams.size(), 0);
    std::vector<bool> happened(s_.events.size(), false);
    std::vector<std::vector<usize>> waiting(s_.events.size());  // streams, by event
    std::vector<usize> ready(s_.streams.size());
    for (usize i = 0; i < ready.size(); ++i)
      ready[i] = i;
    while (!ready.empty()) {
      const usize i = ready.back();
      ready.pop_back();
      for (; next[i] < s_.streams[i].tasks.size(); ++next[i]) {
        const auto& op = s_.streams[i].tasks[next[i]].op;
        if (const auto* wait = std::get_if<StreamWaitEvent>(&op); wait != nullptr && !happened[wait->event]) {
          waiting[wait->event].push_back(i);
          break;
        }
        if (const auto* record = std::get_if<EventRecord>(&op)) {
          happened[record->event] = true;
          ready.insert(ready.end(), waiting[record->event].begin(), waiting[record->event].end());
          waiting[record->event].clear();
        }
      }
    }
    std::vector<usize> stuck;
    for (usize i = 0; i < next.size(); ++i) {
      if (next[i] < s_.streams[i].tasks.size()) stuck.push_back(i);
    }
    if (!stuck.empty()) report_circle(stuck, next);
  }

  void report_circle(const std::vector<usize>& stuck, const std::vector<usize>& next) {
    // Who would record each event, first in file order: all such tasks stand behind a wait in a stuck stream.
    std::vector<std::pair<usize, usize>> recorder(s_.events.size(), {0, 0});
    std::vector<bool> found(s_.events.size(), false);
    for (const usize i : stuck) {
      for (usize t = next[i]; t < s_.streams[i].tasks.size(); ++t) {
        const auto* record = std::get_if<EventRecord>(&s_.streams[i].tasks[t].op);
        if (record == nullptr || found[record->event]) continue;
        found[record->event] = true;
        recorder[record->event] = {i, t};
      }
    }
    const auto event_of = [&](usize i) { return std::get<StreamWaitEvent>(s_.streams[i].tasks[next[i]].op).event; };
    // Follow the waits until a stream comes again: the part from there on is the circle.
    std::vector<usize> chain;
    std::vector<bool> seen(s_.streams.size(), false);
    usize i = stuck.front();
    while (!seen[i]) {
      seen[i] = true;
      chain.push_back(i);
      i = recorder[event_of(i)].first;
    }
    chain.erase(chain.begin(), std::find(chain.begin(), chain.end(), i));
    std::rotate(chain.begin(), std::min_element(chain.begin(), chain.end()), chain.end());
    std::string text;
    for (usize k = 0; k < chain.size(); ++k) {
      if (k == 8 && chain.size() > 9) {
        text += fmt::format("; ... {} more streams", chain.size() - k);
        break;
      }
      const usize c = chain[k];
      const auto [r, t] = recorder[event_of(c)];
      text += fmt::format("{}{} waits for event '{}', which only {} records", text.empty() ? "" : "; ",
                          task_text(c, next[c]), shown(s_.events[event_of(c)]), task_text(r, t));
    }
    report(Path{} / "streams" / chain[0] / "tasks" / next[chain[0]], "streams wait in a circle: {}", text);
  }

  std::string task_text(usize stream, usize task) const {
    return fmt::format("task {} of stream '{}'", task, shown(s_.streams[stream].name));
  }

  void name_tasks() {
    for (Stream& stream : s_.streams) {
      for (Task& t : stream.tasks) {
        if (t.name.empty()) t.name = default_task_name(s_, t);
      }
    }
  }

  TaskStream& s_;
  const Locator& where_;
  const Files& files_;
  config::Problems& problems_;
  std::vector<bool> recorded_;
};

}  // namespace

void check_buffers(TaskStream& stream, const Locator& where, const Files& files, config::Problems& problems) {
  Checker(stream, where, files, problems).run_buffers();
}

void check_rest(TaskStream& stream, const Locator& where, const Files& files, config::Problems& problems) {
  Checker(stream, where, files, problems).run_rest();
}

std::string default_task_name(const TaskStream& s, const Task& t) {
  if (const auto* launch = std::get_if<KernelLaunch>(&t.op)) return s.kernels[launch->kernel].name;
  return std::string(kOpNames[t.op.index()]);
}

std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 80))
    out += c >= 0x20 && c != 0x7f ? c : static_cast<u8>(c) >= 0x80 ? c : '?';
  if (text.size() > 80) out += "...";
  return out;
}

}  // namespace vinci::task
