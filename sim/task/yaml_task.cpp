// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "sim/task/yaml_task.h"

#include <numeric>

#include "sim/task/load.h"

namespace vinci::task {
namespace {

bool looks_like_number(std::string_view text) {
  return !text.empty() && (text[0] == '-' || text[0] == '+' || (text[0] >= '0' && text[0] <= '9'));
}

class TaskReader {
 public:
  TaskReader(YamlNodes& yaml, YamlNames& names, TaskStream& s) : yaml_(yaml), names_(names), s_(s) {}

  void read(const Node& node, Task& t) {
    if (!yaml_.expect(node, NodeKind::map, "a task")) return;
    std::array<std::string_view, kOpNames.size() + 1> keys{};
    std::copy(kOpNames.begin(), kOpNames.end(), keys.begin());
    keys.back() = "name";
    const u64 before = yaml_.reports();
    const auto f = yaml_.fields<keys.size()>(node, "a task", keys);
    if (f.back()) t.name = yaml_.read_text(*f.back(), "name");
    const auto given = [](const Node* n) { return n != nullptr; };
    if (std::count_if(f.begin(), f.end() - 1, given) != 1) {
      if (yaml_.reports() == before) yaml_.report(node, "a task is one of {}", fmt::join(kOpNames, ", "));
      return;
    }
    const auto op = std::find_if(f.begin(), f.end(), given);
    read_op(static_cast<usize>(op - f.begin()), **op, t);
  }

 private:
  template <usize I = 0>
  void read_op(usize op, const Node& node, Task& t) {
    if constexpr (I < kOpNames.size()) {
      if (op != I) return read_op<I + 1>(op, node, t);
      read(node, t.op.emplace<I>(), kOpNames[I]);
    }
  }

  // What tasks refer to -----------------------------------------------------------------------------------------------

  u32 event(const Node& node) { return names_.resolve(node, "event", names_.events, s_.events); }
  u32 notify(const Node& node) { return names_.resolve(node, "notify", names_.notifies, s_.notifies); }
  u32 label(const Node& node) { return names_.resolve(node, "label", names_.labels, s_.labels); }
  u32 stream(const Node& node) { return names_.resolve(node, "stream", names_.streams, s_.streams); }
  u32 model(const Node& node) { return names_.resolve(node, "model", names_.models, s_.models); }
  u32 buffer(const Node& node) { return names_.resolve(node, "buffer", names_.buffers, s_.buffers); }
  u32 kernel(const Node& node) { return names_.resolve(node, "kernel", names_.kernels, s_.kernels); }

  // The communicator of all devices need not be declared.
  u32 comm(const Node* node) {
    if (node != nullptr && (!yaml_.scalar(*node) || node->text() != kWorld)) {
      return names_.resolve(*node, "communicator", names_.comms, s_.comms);
    }
    const auto [it, fresh] = names_.comms.emplace(kWorld, static_cast<u32>(s_.comms.size()));
    if (fresh) {
      Comm& world = s_.comms.emplace_back(Comm{.name = std::string(kWorld)});
      world.devices.resize(s_.devices);
      std::iota(world.devices.begin(), world.devices.end(), 0);
    }
    return it->second;
  }

  // A name, or {buffer: name, offset: bytes}.
  Slice slice(const Node& node) {
    if (node.kind != NodeKind::map) return {buffer(node), 0};
    const auto f = yaml_.fields<2>(node, "a part of a buffer", {"buffer", "offset"});
    return {yaml_.need(node, f[0], "a part of a buffer", "buffer") ? buffer(*f[0]) : kUnresolved,
            f[1] ? yaml_.read_size(*f[1], "offset") : 0};
  }

  Slice need_slice(const Node& node, const Node* field, std::string_view what, std::string_view key) {
    return yaml_.need(node, field, what, key) ? slice(*field) : Slice{kUnresolved, 0};
  }

  // Bytes from the offset to the end of the buffer.
  std::optional<u64> rest(const Slice& slice) const {
    if (slice.buffer >= s_.buffers.size()) return std::nullopt;
    const Buffer& b = s_.buffers[slice.buffer];
    if (b.bytes == kUnresolvedBytes || slice.offset >= b.bytes) return std::nullopt;
    return b.bytes - slice.offset;
  }

  u32 block_dim(const Node& node) {
    u64 v = 0;
    if (yaml_.scalar(node) && !node.text().starts_with('-') && read_number(node.text(), v) && v != 0 &&
        v <= kMaxBlockDim) {
      return static_cast<u32>(v);
    }
    yaml_.report(node, "block_dim = {} is not in [1, {}]", shown(node.text()), kMaxBlockDim);
    return 1;
  }

  void read_args(const Node* node, std::vector<Arg>& out) {
    if (node != nullptr) yaml_.each_item(*node, "args", [&](const Node& item) { out.push_back(arg(item)); });
  }

  Arg arg(const Node& node) {
    if (!yaml_.scalar(node) || node.quoted || !looks_like_number(node.text())) return slice(node);
    u64 v = 0;
    if (!read_number(node.text(), v)) {
      yaml_.report(node, "kernel argument {} is no integer of 64 bits", shown(node.text()));
    }
    return v;
  }

  template <class E, usize N>
  void read_optional(const Node* node, std::string_view what, const std::array<std::string_view, N>& names, E& out) {
    if (node != nullptr) yaml_.read_name(*node, what, names, out);
  }

  // Tasks -------------------------------------------------------------------------------------------------------------

  void read(const Node& node, KernelLaunch& op, std::string_view what) {
    op.kernel = kUnresolved;
    if (!yaml_.expect(node, NodeKind::map, what)) return;
    const auto f = yaml_.fields<5>(node, what, {"kernel", "block_dim", "args", "type", "aiv_kernel"});
    if (yaml_.need(node, f[0], what, "kernel")) op.kernel = kernel(*f[0]);
    read_launch_type(node, f[3], f[4], op);
    if (f[1]) op.block_dim = block_dim(*f[1]);
    read_args(f[2], op.args);
  }

  // A MIX type goes with `aiv_kernel`; any other only repeats the type of the kernel.
  void read_launch_type(const Node& node, const Node* type, const Node* aiv_kernel, KernelLaunch& op) {
    static constexpr auto kWords = [] {
      std::array<std::string_view, kKernelTypeWords.size() + kMixTypeNames.size()> words{};
      std::ranges::copy(kKernelTypeWords, words.begin());
      std::ranges::copy(kMixTypeNames, words.begin() + kKernelTypeWords.size());
      return words;
    }();
    usize word = 0;
    const bool known = type != nullptr && yaml_.read_name(*type, "type", kWords, word);
    if (known && word >= kKernelTypeWords.size()) {
      op.aivs = static_cast<u32>(word - kKernelTypeWords.size() + 1);
      op.aiv_kernel = yaml_.need(node, aiv_kernel, kWords[word], "aiv_kernel") ? kernel(*aiv_kernel) : kUnresolved;
      return;
    }
    if (aiv_kernel != nullptr && (known || type == nullptr)) {
      yaml_.report(*aiv_kernel, "'aiv_kernel' needs 'type: {}'", fmt::join(kMixTypeNames, "' or 'type: "));
    }
    if (known && op.kernel < s_.kernels.size() && s_.kernels[op.kernel].type != kernel_type_of_word(word)) {
      const Kernel& k = s_.kernels[op.kernel];
      yaml_.report(*type, "type {} of the launch, but kernel '{}' is of type {}", kWords[word], shown(k.name),
                   kKernelTypeNames[static_cast<usize>(k.type)]);
    }
  }

  void read(const Node& node, MemcpyAsync& op, std::string_view what) {
    op.dst.buffer = op.src.buffer = kUnresolved;
    if (!yaml_.expect(node, NodeKind::map, what)) return;
    const u64 before = yaml_.reports();
    const auto f = yaml_.fields<7>(node, what, {"dst", "src", "count", "width", "height", "dst_pitch", "src_pitch"});
    op.dst = need_slice(node, f[0], what, "dst");
    op.src = need_slice(node, f[1], what, "src");
    const bool rows = f[3] || f[4] || f[5] || f[6];
    if (rows && f[2]) {
      yaml_.report(*f[2], "memcpy_async: give 'count', or 'width' and 'height', not both");
    } else if (rows) {
      if (yaml_.need(node, f[3], what, "width")) op.width = yaml_.read_size(*f[3], "width");
      if (yaml_.need(node, f[4], what, "height")) op.height = yaml_.read_count(*f[4], "height", ~u64{0});
      op.dst_pitch = f[5] ? yaml_.read_size(*f[5], "dst_pitch") : op.width;
      op.src_pitch = f[6] ? yaml_.read_size(*f[6], "src_pitch") : op.width;
    } else {
      op.width = f[2] ? yaml_.read_size(*f[2], "count") : whole(node, op.dst, op.src, what);
    }
    if (yaml_.reports() != before) op.dst.buffer = op.src.buffer = kUnresolved;
  }

  // The bytes of a task that says none: all of its two buffers.
  u64 whole(const Node& node, const Slice& to, const Slice& from, std::string_view what) {
    const std::optional<u64> dst = rest(to), src = rest(from);
    if (dst && src && *dst != *src) {
      yaml_.report(node, "{}: the source has {} bytes, the destination {}; give 'count'", what, *src, *dst);
    }
    return src.value_or(dst.value_or(1));
  }

  void read(const Node& node, MemsetAsync& op, std::string_view what) {
    op.dst.buffer = kUnresolved;
    if (!yaml_.expect(node, NodeKind::map, what)) return;
    const auto f = yaml_.fields<3>(node, what, {"dst", "value", "count"});
    op.dst = need_slice(node, f[0], what, "dst");
    if (yaml_.need(node, f[1], what, "value")) op.value = static_cast<u8>(yaml_.read_count(*f[1], "value", 255));
    op.bytes = f[2] ? yaml_.read_size(*f[2], "count") : rest(op.dst).value_or(1);
  }

  void read(const Node& node, EventRecord& op, std::string_view) { op.event = event(node); }
  void read(const Node& node, StreamWaitEvent& op, std::string_view) { op.event = event(node); }
  void read(const Node& node, Free& op, std::string_view) { op.buffer = buffer(node); }

  void read(const Node& node, NpuGetFloatStatus& op, std::string_view what) {
    op.dst.buffer = kUnresolved;
    if (!yaml_.expect(node, NodeKind::map, what)) return;
    const auto f = yaml_.fields<1>(node, what, {"dst"});
    op.dst = need_slice(node, f[0], what, "dst");
  }

  void read(const Node& node, NpuClearFloatStatus&, std::string_view what) {
    if (yaml_.expect(node, NodeKind::map, what) && !node.children().empty())
      yaml_.report(node, "{} has no keys; write {{}}", what);
  }

  void read(const Node& node, ReduceAsync& op, std::string_view what) {
    op.dst.buffer = op.src.buffer = kUnresolved;
    if (!yaml_.expect(node, NodeKind::map, what)) return;
    const u64 before = yaml_.reports();
    const auto f = yaml_.fields<5>(node, what, {"dst", "src", "count", "kind", "dtype"});
    op.dst = need_slice(node, f[0], what, "dst");
    op.src = need_slice(node, f[1], what, "src");
    if (yaml_.need(node, f[4], what, "dtype")) yaml_.read_name(*f[4], "dtype", kElementTypeNames, op.type);
    read_optional(f[3], "kind", kReduceKindNames, op.kind);
    op.bytes = f[2] ? yaml_.read_size(*f[2], "count") : whole(node, op.dst, op.src, what);
    if (yaml_.reports() != before) op.dst.buffer = op.src.buffer = kUnresolved;
  }

  void read(const Node& node, EventReset& op, std::string_view) { op.event = event(node); }
  void read(const Node& node, NotifyRecord& op, std::string_view) { op.notify = notify(node); }
  void read(const Node& node, NotifyWait& op, std::string_view) { op.notify = notify(node); }

  void read(const Node& node, StreamSwitch& op, std::string_view what) {
    op.value.buffer = op.target.buffer = op.true_stream = kUnresolved;
    if (!yaml_.expect(node, NodeKind::map, what)) return;
    const auto f = yaml_.fields<5>(node, what, {"value", "cond", "target", "true_stream", "dtype"});
    op.value = need_slice(node, f[0], what, "value");
    if (yaml_.need(node, f[1], what, "cond")) yaml_.read_name(*f[1], "cond", kConditionNames, op.cond);
    op.target = need_slice(node, f[2], what, "target");
    if (yaml_.need(node, f[3], what, "true_stream")) op.true_stream = stream(*f[3]);
    usize wide = 0;
    read_optional(f[4], "dtype", kSwitchTypeNames, wide);
    op.bytes = wide == 0 ? 4 : 8;
  }

  void read(const Node& node, StreamActive& op, std::string_view) { op.stream = stream(node); }
  void read(const Node& node, LabelSet& op, std::string_view) { op.label = label(node); }
  void read(const Node& node, LabelGoto& op, std::string_view) { op.label = label(node); }

  void read(const Node& node, LabelSwitch& op, std::string_view what) {
    op.index.buffer = kUnresolved;
    if (!yaml_.expect(node, NodeKind::map, what)) return;
    const auto f = yaml_.fields<2>(node, what, {"index", "labels"});
    op.index = need_slice(node, f[0], what, "index");
    if (yaml_.need(node, f[1], what, "labels"))
      yaml_.each_item(*f[1], "labels", [&](const Node& item) { op.labels.push_back(label(item)); });
  }

  void read(const Node& node, CpuKernelLaunch& op, std::string_view what) {
    if (!yaml_.expect(node, NodeKind::map, what)) return;
    const u64 before = yaml_.reports();
    const auto f = yaml_.fields<4>(node, what, {"kernel", "block_dim", "args", "time"});
    if (yaml_.need(node, f[0], what, "kernel")) op.kernel = yaml_.read_text(*f[0], "kernel");
    if (f[1]) op.block_dim = block_dim(*f[1]);
    read_args(f[2], op.args);
    if (f[3]) op.seconds = yaml_.read_time(*f[3], "time");
    if (f[3] && yaml_.reports() == before && op.seconds <= 0)
      yaml_.report(*f[3], "{}: its time must be more than 0", what);
  }

  void read(const Node& node, ModelExecute& op, std::string_view) { op.model = model(node); }
  void read(const Node& node, ModelEndGraph& op, std::string_view) { op.model = model(node); }

  void read(const Node& node, Hccl& op, std::string_view what) {
    op.comm = kUnresolved;
    if (!yaml_.expect(node, NodeKind::map, what)) return;
    const u64 before = yaml_.reports();
    const auto f =
        yaml_.fields<9>(node, what, {"op", "comm", "send", "recv", "count", "dtype", "reduce", "root", "algorithm"});
    if (yaml_.need(node, f[0], what, "op")) yaml_.read_name(*f[0], "op", kHcclOpNames, op.op);
    op.comm = comm(f[1]);
    if (op.op != Hccl::Op::broadcast) {
      op.send = need_slice(node, f[2], what, "send");
    } else if (f[2]) {
      yaml_.report(*f[2], "hccl: a broadcast has one buffer, 'recv', which the root sends");
    }
    op.recv = need_slice(node, f[3], what, "recv");
    if (yaml_.need(node, f[4], what, "count")) op.count = yaml_.read_count(*f[4], "count", ~u64{0}, 1);
    if (yaml_.need(node, f[5], what, "dtype")) yaml_.read_name(*f[5], "dtype", kElementTypeNames, op.type);
    read_optional(f[6], "reduce", kHcclReduceNames, op.reduce);
    if (f[7]) op.root = static_cast<u32>(yaml_.read_count(*f[7], "root", kMaxDevices - 1));
    read_optional(f[8], "algorithm", kHcclAlgorithmNames, op.algorithm);
    const auto only = [&](const Node* n, std::string_view key, bool fits, std::string_view ops) {
      if (n != nullptr && !fits) yaml_.report(*n, "hccl: '{}' is a key of {}", key, ops);
    };
    if (yaml_.reports() == before) {
      only(f[6], "reduce", op.reduces(), "all_reduce and reduce_scatter");
      only(f[7], "root", op.op == Hccl::Op::broadcast, "broadcast");
    }
    if (yaml_.reports() != before) op.comm = kUnresolved;
  }

  YamlNodes& yaml_;
  YamlNames& names_;
  TaskStream& s_;
};

}  // namespace

void read_task(const Node& node, YamlNodes& yaml, YamlNames& names, TaskStream& s, Task& out) {
  TaskReader(yaml, names, s).read(node, out);
}

}  // namespace vinci::task
