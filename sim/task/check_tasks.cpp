// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <algorithm>
#include <optional>

#include "sim/task/check_parts.h"
#include "sim/task/load.h"

namespace vinci::task {
namespace {

// Bytes from the first to behind the last of `height` rows, or nothing where that leaves 64 bits.
std::optional<u64> extent(u64 width, u64 height, u64 pitch) {
  u64 bytes = 0;
  if (__builtin_mul_overflow(height - 1, pitch, &bytes) || __builtin_add_overflow(bytes, width, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

class TaskChecker {
 public:
  explicit TaskChecker(Checks& checks)
      : c_(checks),
        s_(checks.s),
        recorded_(s_.events.size()),
        notified_(s_.notifies.size()),
        label_stream_(s_.labels.size(), kNone),
        model_stream_(s_.models.size(), kNone) {}

  void run() {
    u64 count = 0;
    for (u32 i = 0; i < s_.streams.size(); ++i) {
      count += s_.streams[i].tasks.size();
      const u32 model = s_.streams[i].model;
      if (model < model_stream_.size() && model_stream_[model] == kNone) model_stream_[model] = i;
      for (usize t = 0; t < s_.streams[i].tasks.size(); ++t)
        declare(i, s_.streams[i].tasks[t], task_path(i, t));
    }
    if (count > kMaxTasks) c_.report(Path{} / "streams", "{} tasks; at most {} are possible", count, kMaxTasks);
    for (u32 i = 0; i < s_.streams.size(); ++i) {
      stream_ = &s_.streams[i];
      stream_index_ = i;
      for (usize t = 0; t < stream_->tasks.size(); ++t) {
        Task& task = stream_->tasks[t];
        const Path path = task_path(i, t);
        if (!task.name.empty() && why_bad_name(task.name) != nullptr)
          c_.report(path / "name", "the name of the task {}", why_bad_name(task.name));
        std::visit([&](auto& op) { check_op(op, path / kOpNames[task.op.index()]); }, task.op);
      }
    }
  }

 private:
  static Path task_path(usize stream, usize task) { return Path{} / "streams" / stream / "tasks" / task; }

  // What other tasks, maybe of earlier streams, count on.
  void declare(u32 stream, const Task& task, const Path& path) {
    if (const auto signal = recorded_by(task.op)) {
      std::vector<bool>& known = signalled(signal->kind);
      if (signal->index < known.size()) known[signal->index] = true;
    } else if (const auto* label = std::get_if<LabelSet>(&task.op)) {
      if (label->label >= label_stream_.size()) return;
      u32& set = label_stream_[label->label];
      if (set != kNone) c_.report(path / "label_set", "label '{}' is set twice", shown(s_.labels[label->label]));
      set = stream;
    }
  }

  std::vector<bool>& signalled(Signal::Kind kind) { return kind == Signal::Kind::event ? recorded_ : notified_; }

  // Memory ------------------------------------------------------------------------------------------------------------

  // Whether the buffer is known, with its size.
  const Buffer* buffer(u32 index, const Path& path) {
    if (!c_.known(index, s_.buffers, "buffer", path)) return nullptr;
    const Buffer& b = s_.buffers[index];
    return c_.unresolved(b) || b.bytes == 0 ? nullptr : &b;
  }

  bool on_host(const Buffer& b) const { return b.place == Buffer::Place::host; }

  // The device of the stream reaches its own memory.
  bool is_local(const Buffer& b, const Path& path) {
    if (b.device == stream_->device) return true;
    c_.report(path, "buffer '{}' is memory of device {}, but stream '{}' is of device {}", shown(b.name), b.device,
              shown(stream_->name), stream_->device);
    return false;
  }

  // A part of device memory, of the stream's device unless `any_device`, whose elements are aligned.
  bool check_part(const Slice& slice, std::optional<u64> bytes, const OpInfo& info, const Path& path, u64 align = 1,
                  bool any_device = false) {
    const Buffer* b = buffer(slice.buffer, path);
    if (b == nullptr) return false;
    if (on_host(*b)) {
      c_.report(path, "{} {}; '{}' is on the host", info.key, info.memory, shown(b->name));
      return false;
    }
    if (!any_device && !is_local(*b, path)) return false;
    if (!bytes) {
      c_.report(path, "more than 64 bits of bytes from offset {} of buffer '{}'", slice.offset, shown(b->name));
      return false;
    }
    if (!check_slice(slice, *bytes, 1, *bytes, path)) return false;
    if (slice.offset % align == 0) return true;
    c_.report(path, "offset {} of buffer '{}' is no multiple of {} bytes", slice.offset, shown(b->name), align);
    return false;
  }

  bool check_slice(const Slice& slice, u64 width, u64 height, u64 pitch, const Path& path) {
    const Buffer& b = s_.buffers[slice.buffer];
    const std::optional<u64> bytes = extent(width, height, pitch);
    if (bytes && slice.offset <= b.bytes && *bytes <= b.bytes - slice.offset) return true;
    if (height == 1) {
      c_.report(path, "[{}, +{}) is outside buffer '{}' of {} bytes", slice.offset, width, shown(b.name), b.bytes);
    } else {
      c_.report(path, "{} rows of {} bytes, {} apart, from {} on, are not all inside buffer '{}' of {} bytes", height,
                width, pitch, slice.offset, shown(b.name), b.bytes);
    }
    return false;
  }

  static bool overlap(const Slice& a, u64 a_bytes, const Slice& b, u64 b_bytes) {
    return a.buffer == b.buffer && a.offset < b.offset + b_bytes && b.offset < a.offset + a_bytes;
  }

  void check_args(const std::vector<Arg>& args, const Path& path) {
    if (args.size() > kMaxArgs) c_.report(path, "{} arguments; at most {} fit", args.size(), kMaxArgs);
    for (usize a = 0; a < args.size(); ++a) {
      const Slice* slice = std::get_if<Slice>(&args[a]);
      const Buffer* b = slice != nullptr ? buffer(slice->buffer, path / a) : nullptr;
      if (b == nullptr) continue;
      if (on_host(*b)) {
        c_.report(path / a, "kernel argument '{}' is a host buffer; kernels reach device buffers only", shown(b->name));
      } else if (is_local(*b, path / a) && slice->offset >= b->bytes) {
        c_.report(path / a, "offset {} is outside buffer '{}' of {} bytes", slice->offset, shown(b->name), b->bytes);
      }
    }
  }

  void check_block_dim(u32 block_dim, const Path& path) {
    if (block_dim == 0 || block_dim > kMaxBlockDim)
      c_.report(path, "block_dim = {} is not in [1, {}]", block_dim, kMaxBlockDim);
  }

  // Kernels -----------------------------------------------------------------------------------------------------------

  void check_op(KernelLaunch& op, const Path& path) {
    const bool kernel_known = c_.known(op.kernel, s_.kernels, "kernel", path / "kernel");
    if (op.mix() || op.aiv_kernel != 0) check_mix(op, kernel_known, path);
    check_block_dim(op.block_dim, path / "block_dim");
    check_args(op.args, path / "args");
    if (kernel_known) check_entries(op.kernel, op.block_dim, path / "kernel");
    if (op.mix() && op.aiv_kernel < s_.kernels.size())
      check_entries(op.aiv_kernel, u64{op.block_dim} * op.aivs, path / "aiv_kernel");
  }

  void check_entries(u32 kernel, u64 cores, const Path& path) {
    const Kernel& k = s_.kernels[kernel];
    if (k.entries.empty() || k.entries.size() == cores) return;
    c_.report(path, "kernel '{}' has entries for {} cores, but {} run it here", shown(k.name), k.entries.size(), cores);
  }

  void check_mix(const KernelLaunch& op, bool kernel_known, const Path& path) {
    if (op.aivs == 0 || op.aivs > kMixTypeNames.size()) {
      c_.report(path / "aivs", "a MIX task with {} vector cores for each cube core; there are {}", op.aivs,
                fmt::join(kMixTypeNames, " and "));
      return;
    }
    const auto need_type = [&](u32 kernel, KernelType type, const Path& where) {
      const Kernel& k = s_.kernels[kernel];
      if (k.type == type) return;
      c_.report(where, "{}: kernel '{}' is of type {}, but must be {} here", kMixTypeNames[op.aivs - 1], shown(k.name),
                kKernelTypeNames[static_cast<usize>(k.type)], kKernelTypeNames[static_cast<usize>(type)]);
    };
    if (kernel_known) need_type(op.kernel, KernelType::AIC_ONLY, path / "kernel");
    const bool aiv_known = c_.known(op.aiv_kernel, s_.kernels, "kernel", path / "aiv_kernel");
    if (aiv_known) need_type(op.aiv_kernel, KernelType::AIV_ONLY, path / "aiv_kernel");
  }

  // Copies ------------------------------------------------------------------------------------------------------------

  void check_op(MemcpyAsync& op, const Path& path) {
    const bool both = static_cast<int>(c_.known(op.dst.buffer, s_.buffers, "buffer", path / "dst")) &
                      static_cast<int>(c_.known(op.src.buffer, s_.buffers, "buffer", path / "src"));
    if (!both) return;
    const Buffer& dst = s_.buffers[op.dst.buffer];
    const Buffer& src = s_.buffers[op.src.buffer];
    const bool resolved = !c_.unresolved(dst) && !c_.unresolved(src);
    if (resolved && on_host(dst) && on_host(src)) {
      c_.report(path / "dst", "'{}' and '{}' are both on the host; memcpy_async moves H2D, D2H or D2D", shown(src.name),
                shown(dst.name));
      return;
    }
    if (op.width == 0 || op.height == 0) {
      c_.report(path, "memcpy_async of {} bytes by {} rows moves nothing", op.width, op.height);
      return;
    }
    if (op.dst_pitch == 0) op.dst_pitch = op.width;
    if (op.src_pitch == 0) op.src_pitch = op.width;
    // The pitch of a single row means nothing; one spelling of it keeps equal streams equal.
    if (op.height == 1) op.dst_pitch = op.src_pitch = op.width;
    for (const auto& [key, pitch] : {std::pair{"dst_pitch", op.dst_pitch}, std::pair{"src_pitch", op.src_pitch}}) {
      if (pitch < op.width) {
        c_.report(path / key, "{} = {} is smaller than width = {}: rows would overlap", key, pitch, op.width);
        return;
      }
    }
    if (!resolved || dst.bytes == 0 || src.bytes == 0) return;
    const bool inside = static_cast<int>(check_slice(op.dst, op.width, op.height, op.dst_pitch, path / "dst")) &
                        static_cast<int>(check_slice(op.src, op.width, op.height, op.src_pitch, path / "src"));
    if (inside && op.height == 1 && overlap(op.dst, op.width, op.src, op.width))
      c_.report(path / "dst", "source and destination overlap in buffer '{}'", shown(dst.name));
    // Between two devices, either may carry it out.
    if (on_host(dst) || (!on_host(src) && src.device == stream_->device)) {
      if (on_host(dst)) is_local(src, path / "src");
    } else {
      is_local(dst, path / "dst");
    }
  }

  // The other operations, from their descriptions -----------------------------------------------------------------

  template <class Op>
  void check_op(Op& op, const Path& path) {
    if (!sizes_known(op, path)) return;
    bool sound = true;
    for_each_field<Op>([&](const auto& field) {
      if (!check_field(op, field, field.key.empty() ? path : path / field.key)) sound = false;
    });
    if (sound) check_whole(op, path);
  }

  // Whether the sizes of the parts mean something.
  template <class Op>
  bool sizes_known(const Op& op, const Path& path) {
    bool known = true;
    for_each_spelled<as::integer_type, Op>([&](const auto& field) {
      const u64 bytes = field.of(op);
      known = bytes == 4 || bytes == 8;
      if (!known) c_.report(path / field.key, "{} of integers of {} bytes; they have 4 or 8", Op::info.key, bytes);
    });
    return known;
  }

  // What only the parts together can be wrong about.
  template <class Op>
  void check_whole(const Op& op, const Path& path) {
    if constexpr (requires { op.why_not(); }) {
      const std::string why = op.why_not();
      if (!why.empty()) return c_.report(path, "{} {}", Op::info.key, why);
    }
    if constexpr (spelled_count<as::part, Op>() == 2 && spelled_count<as::extent, Op>() == 1) {
      const u64 bytes = op.extent().bytes;
      if (overlap(op.dst, bytes, op.src, bytes)) {
        c_.report(path / "dst", "source and destination overlap in buffer '{}'", shown(s_.buffers[op.dst.buffer].name));
      }
    }
  }

  // Whether a field is right by itself.
  template <class Op, class F>
  bool check_field(const Op& op, const F& field, const Path& path) {
    constexpr std::string_view kKey = Op::info.key;
    const auto& value = field.of(op);
    if constexpr (is_spelled<as::part, F>) {
      const Extent extent = op.extent();
      return check_part(value, extent.bytes, Op::info, path, extent.align, field.spelling.any_device);
    } else if constexpr (is_spelled<as::event, F>) {
      if (c_.known(value, s_.events, "event", path)) check_wait(op, s_.events, "event", path);
    } else if constexpr (is_spelled<as::notify, F>) {
      if (c_.known(value, s_.notifies, "notify", path)) check_wait(op, s_.notifies, "notify", path);
    } else if constexpr (is_spelled<as::label, F>) {
      if (!field.spelling.declares) {
        check_jump(value, kKey, path);
      } else if (c_.known(value, s_.labels, "label", path)) {
        in_model(kKey, path);
      }
    } else if constexpr (is_spelled<as::labels, F>) {
      if (value.empty()) c_.report(path, "{} without labels leads nowhere", kKey);
      for (usize i = 0; i < value.size(); ++i)
        check_jump(value[i], kKey, path / i);
    } else if constexpr (is_spelled<as::stream, F>) {
      check_start(value, kKey, path);
    } else if constexpr (is_spelled<as::buffer, F>) {
      check_whole_buffer(value, Op::info, path);
    } else if constexpr (is_spelled<as::text, F>) {
      // A name that is not there has been reported as such.
      const char* why = value.empty() && c_.any_problem() ? nullptr : why_bad_name(value);
      if (why != nullptr) c_.report(path, "the name of the {} {}", field.key, why);
    } else if constexpr (is_spelled<as::block_dim, F>) {
      check_block_dim(value, path);
    } else if constexpr (is_spelled<as::args, F>) {
      check_args(value, path);
    } else if constexpr (is_spelled<as::time, F>) {
      if (!(value >= 0 && value <= kMaxSeconds))
        c_.report(path, "{}: its time must be more than 0, at most {:.0f}s", kKey, kMaxSeconds);
    }
    return true;  // the others hold whatever their type does
  }

  // Whether a buffer that is freed is still needed depends on how the streams run: that is a fault of the run.
  void check_whole_buffer(u32 index, const OpInfo& info, const Path& path) {
    const Buffer* b = buffer(index, path);
    if (b == nullptr) return;
    if (on_host(*b)) {
      c_.report(path, "{} {}; '{}' is on the host", info.key, info.memory, shown(b->name));
    } else {
      is_local(*b, path);
    }
  }

  template <class Op>
  void check_wait(const Op& op, const std::vector<std::string>& names, std::string_view what, const Path& path) {
    if constexpr (requires { op.waits_for(); }) {
      const Signal signal = op.waits_for();
      if (signalled(signal.kind)[signal.index]) return;
      c_.report(path, "{} '{}' is waited for but never recorded", what, shown(names[signal.index]));
    }
  }

  // Control flow exists in the streams of a model alone: the queue of another stream forgets what is done.
  bool in_model(std::string_view what, const Path& path) {
    if (stream_->model < s_.models.size()) return true;
    if (stream_->model == kNone) c_.report(path, "{} in stream '{}', which is of no model", what, shown(stream_->name));
    return false;
  }

  void check_start(u32 target, std::string_view what, const Path& path) {
    if (!in_model(what, path) || !c_.known(target, s_.streams, "stream", path)) return;
    const Stream& other = s_.streams[target];
    if (target == stream_index_) {
      c_.report(path, "{}: stream '{}' cannot start itself; use a label", what, shown(other.name));
    } else if (other.model != stream_->model) {
      c_.report(path, "{}: streams '{}' and '{}' are not of the same model", what, shown(stream_->name),
                shown(other.name));
    }
  }

  void check_jump(u32 label, std::string_view what, const Path& path) {
    if (!c_.known(label, s_.labels, "label", path) || !in_model(what, path)) return;
    const u32 set = label_stream_[label];
    if (set == stream_index_) return;
    if (set == kNone) {
      c_.report(path, "label '{}' is never set", shown(s_.labels[label]));
    } else {
      c_.report(path, "label '{}' is set in stream '{}'; a jump stays in its stream", shown(s_.labels[label]),
                shown(s_.streams[set].name));
    }
  }

  // Models ------------------------------------------------------------------------------------------------------------

  void check_op(ModelExecute& op, const Path& path) {
    if (!c_.known(op.model, s_.models, "model", path)) return;
    if (stream_->model != kNone) {
      c_.report(path, "model_execute in stream '{}', which is of a model itself", shown(stream_->name));
      return;
    }
    const u32 part = model_stream_[op.model];
    if (part != kNone && s_.streams[part].device != stream_->device) {
      c_.report(path, "model '{}' is on device {}, but stream '{}' is of device {}", shown(s_.models[op.model]),
                s_.streams[part].device, shown(stream_->name), stream_->device);
    }
  }

  void check_op(ModelEndGraph& op, const Path& path) {
    if (!c_.known(op.model, s_.models, "model", path) || op.model == stream_->model) return;
    c_.report(path, "model_end_graph of model '{}' in stream '{}', which is not of it", shown(s_.models[op.model]),
              shown(stream_->name));
  }

  // Collectives -------------------------------------------------------------------------------------------------------

  void check_op(Hccl& op, const Path& path) {
    if (!c_.known(op.comm, s_.comms, "communicator", path / "comm")) return;
    const Comm& comm = s_.comms[op.comm];
    const u64 ranks = comm.devices.size();
    if (std::ranges::find(comm.devices, stream_->device) == comm.devices.end()) {
      c_.report(path / "comm", "device {} of stream '{}' is not in communicator '{}'", stream_->device,
                shown(stream_->name), shown(comm.name));
      return;
    }
    if (op.count == 0) {
      c_.report(path / "count", "hccl of 0 elements moves nothing");
      return;
    }
    if (!op.reduces() && op.reduce != Hccl::Reduce::sum)
      c_.report(path / "reduce", "hccl: 'reduce' is a key of all_reduce and reduce_scatter");
    const bool broadcast = op.op == Hccl::Op::broadcast;
    if (!broadcast && op.root != 0) c_.report(path / "root", "hccl: 'root' is a key of broadcast");
    if (op.root >= ranks) {
      c_.report(path / "root", "rank {} does not exist; communicator '{}' has {}", op.root, shown(comm.name), ranks);
    }
    using Op = Hccl::Op;
    const bool wide_send = op.op == Op::reduce_scatter || op.op == Op::all_to_all;
    const bool wide_recv = op.op == Op::all_gather || op.op == Op::all_to_all;
    const std::optional<u64> send = hccl_bytes(op, wide_send ? ranks : 1), recv = hccl_bytes(op, wide_recv ? ranks : 1);
    const u64 element = element_bytes(op.type);
    const bool recv_good = check_part(op.recv, recv, op.info, path / "recv", element);
    if (broadcast) {
      if (op.send != Slice{})
        c_.report(path / "send", "hccl: a broadcast has one buffer, 'recv', which the root sends");
      return;
    }
    if (check_part(op.send, send, op.info, path / "send", element) && recv_good) check_in_place(op, *send, *recv, path);
  }

  static std::optional<u64> hccl_bytes(const Hccl& op, u64 parts) {
    u64 bytes = 0;
    if (__builtin_mul_overflow(op.count, element_bytes(op.type), &bytes)) return std::nullopt;
    if (__builtin_mul_overflow(bytes, parts, &bytes)) return std::nullopt;
    return bytes;
  }

  // In place is what HCCL allows: each rank has its own part where the whole has it.
  void check_in_place(const Hccl& op, u64 send, u64 recv, const Path& path) {
    if (!overlap(op.send, send, op.recv, recv)) return;
    const std::vector<u32>& ranks = s_.comms[op.comm].devices;
    const auto rank = static_cast<u64>(std::ranges::find(ranks, stream_->device) - ranks.begin());
    const u64 part = rank * std::min(send, recv);
    bool fits = false;
    switch (op.op) {
      case Hccl::Op::all_reduce: fits = op.send.offset == op.recv.offset; break;
      case Hccl::Op::all_gather: fits = op.send.offset == op.recv.offset + part; break;
      case Hccl::Op::reduce_scatter: fits = op.recv.offset == op.send.offset + part; break;
      default: break;
    }
    if (!fits) {
      c_.report(path / "send", "'send' and 'recv' overlap in buffer '{}' other than in place",
                shown(s_.buffers[op.send.buffer].name));
    }
  }

  Checks& c_;
  TaskStream& s_;
  std::vector<bool> recorded_, notified_;  // by some task
  std::vector<u32> label_stream_;          // that sets it
  std::vector<u32> model_stream_;          // one of it
  Stream* stream_ = nullptr;               // whose tasks are looked at
  u32 stream_index_ = 0;
};

}  // namespace

void check_tasks(Checks& checks) { TaskChecker(checks).run(); }

}  // namespace vinci::task
