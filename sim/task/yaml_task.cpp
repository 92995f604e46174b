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
    const auto f = yaml_.fields(node, what, keys_of<KernelLaunch>());
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

  // The other operations, from their descriptions -----------------------------------------------------------------

  template <class Op>
  void read(const Node& node, Op& op, std::string_view what) {
    set_unresolved(op);
    if constexpr (is_bare<Op>()) {
      for_each_field<Op>([&](const auto& field) { field.of(op) = resolve(node, field.spelling); });
    } else {
      if (!yaml_.expect(node, NodeKind::map, what)) return;
      if constexpr (field_count<Op> == 0) {
        if (!node.children().empty()) yaml_.report(node, "{} has no keys; write {{}}", what);
      } else {
        read_fields(node, op, what);
      }
    }
  }

  template <class Op>
  void read_fields(const Node& node, Op& op, std::string_view what) {
    const u64 before = yaml_.reports();
    const auto nodes = yaml_.fields(node, what, keys_of<Op>());
    usize k = 0;
    for (const bool last : {false, true}) {
      for_each_field<Op>([&](const auto& field) {
        if (field.listed_last == last) read_field(Place{node, nodes[k++], what, before}, field, op);
      });
    }
    k = 0;
    for (const bool last : {false, true}) {
      for_each_field<Op>([&](const auto& field) {
        if (field.listed_last != last) return;
        const Node* given = nodes[k++];
        if (yaml_.reports() == before && given != nullptr && !field.applies(op))
          yaml_.report(*given, "{}: {}", what, field.refusal);
      });
    }
    // Without all of its sizes or its meaning, an operation is not checked any further.
    if (yaml_.reports() == before) return;
    if constexpr (spelled_count<as::communicator, Op>() > 0 ||
                  (spelled_count<as::extent, Op>() > 0 && spelled_count<as::part, Op>() > 1)) {
      set_unresolved(op);
    }
  }

  template <class Op>
  static void set_unresolved(Op& op) {
    for_each_field<Op>([&](const auto& field) {
      using Value = typename std::remove_cvref_t<decltype(field)>::Value;
      if constexpr (std::is_same_v<Value, Slice>) {
        field.of(op).buffer = kUnresolved;
      } else if constexpr (std::is_same_v<Value, u32> && !is_number<decltype(field)>) {
        field.of(op) = kUnresolved;
      }
    });
  }
  template <class F>
  static constexpr bool is_number = is_spelled<as::number, F> || is_spelled<as::block_dim, F>;

  // Where a field is read: its operation, its own node (null: left out), the name of the operation, and how many
  // reports there were before the operation.
  struct Place {
    const Node& parent;
    const Node* node;
    std::string_view what;
    u64 before;
  };

  template <class F, class Op>
  void read_field(const Place& at, const F& field, Op& op) {
    if constexpr (is_spelled<as::part, F>) {
      if (field.applies(op)) {
        field.of(op) = need_slice(at.parent, at.node, at.what, field.key);
      } else {
        field.of(op) = {};
        if (at.node != nullptr) yaml_.report(*at.node, "{}: {}", at.what, field.refusal);
      }
    } else if constexpr (is_spelled<as::extent, F>) {
      field.of(op) = at.node != nullptr ? yaml_.read_size(*at.node, field.key) : all_of(at, op);
    } else if constexpr (is_spelled<as::communicator, F>) {
      field.of(op) = comm(at.node);
    } else if constexpr (requires { field.spelling.required; }) {
      if (field.spelling.required && !yaml_.need(at.parent, at.node, at.what, field.key)) return;
      if (at.node != nullptr) read_value(*at.node, field.key, field.spelling, field.of(op));
    } else if constexpr (is_spelled<as::integer_type, F>) {
      usize wide = 0;
      read_optional(at.node, field.key, kSwitchTypeNames, wide);
      field.of(op) = wide == 0 ? 4 : 8;
    } else if constexpr (is_spelled<as::block_dim, F>) {
      if (at.node != nullptr) field.of(op) = block_dim(*at.node);
    } else if constexpr (is_spelled<as::args, F>) {
      read_args(at.node, field.of(op));
    } else if constexpr (is_spelled<as::time, F>) {
      if (at.node == nullptr) return;
      field.of(op) = yaml_.read_time(*at.node, field.key);
      if (yaml_.reports() == at.before && field.of(op) <= 0)
        yaml_.report(*at.node, "{}: its time must be more than 0", at.what);
    } else {
      if (!yaml_.need(at.parent, at.node, at.what, field.key)) return;
      if constexpr (is_spelled<as::text, F>) {
        field.of(op) = yaml_.read_text(*at.node, field.key);
      } else if constexpr (is_spelled<as::labels, F>) {
        yaml_.each_item(*at.node, field.key, [&](const Node& item) { field.of(op).push_back(label(item)); });
      } else {
        field.of(op) = resolve(*at.node, field.spelling);
      }
    }
  }

  template <class Value>
  void read_value(const Node& node, std::string_view key, const as::number& spelling, Value& out) {
    out = static_cast<Value>(yaml_.read_count(node, key, spelling.max, spelling.min));
  }
  template <const auto& Names, class Value>
  void read_value(const Node& node, std::string_view key, const as::choice<Names>&, Value& out) {
    yaml_.read_name(node, key, Names, out);
  }

  u32 resolve(const Node& node, as::event) { return event(node); }
  u32 resolve(const Node& node, as::notify) { return notify(node); }
  u32 resolve(const Node& node, as::label) { return label(node); }
  u32 resolve(const Node& node, as::stream) { return stream(node); }
  u32 resolve(const Node& node, as::model) { return model(node); }
  u32 resolve(const Node& node, as::buffer) { return buffer(node); }

  // The bytes of an operation that says none: all of its parts.
  template <class Op>
  u64 all_of(const Place& at, const Op& op) {
    std::array<Slice, spelled_count<as::part, Op>()> parts;
    usize k = 0;
    for_each_spelled<as::part, Op>([&](const auto& field) { parts[k++] = field.of(op); });
    if constexpr (parts.size() == 2) {
      return whole(at.parent, parts[0], parts[1], at.what);
    } else {
      return rest(parts[0]).value_or(1);
    }
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
