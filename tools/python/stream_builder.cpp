// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/python/bodies.h"
#include "tools/python/built_stream.h"
#include "tools/python/owned.h"
#include "tools/python/program.h"

namespace py = pybind11;

namespace vinci::python {
namespace {

using Text = const std::string&;

struct StreamState : Bodies {
  static constexpr const char* kName = "StreamBuilder";

  task::StreamBuilder builder;

  StreamState(Text name, isa::Arch arch, u32 devices, Text comment) : builder(name, arch, devices, comment) {}
  task::StreamBuilder& use() {
    check();
    return builder;
  }
};
using Owner = std::shared_ptr<StreamState>;
using BuilderType = py::class_<StreamState, Owner>;

using Buffer = Owned<StreamState, task::BufferRef>;
using Kernel = Owned<StreamState, task::KernelRef>;
using Event = Owned<StreamState, task::EventRef>;
using Notify = Owned<StreamState, task::NotifyRef>;
using Label = Owned<StreamState, task::LabelRef>;
using Model = Owned<StreamState, task::ModelRef>;
using Comm = Owned<StreamState, task::CommRef>;
using Semaphore = Owned<StreamState, task::SemaphoreRef>;
using Stream = Owned<StreamState, task::StreamRef>;
using Thread = Owned<StreamState, task::ThreadRef>;

// Buffers
// ---------------------------------------------------------------------------------------------------------------

// "f4" of "<f4". The byte order is that of the machine: Bytes refuses others.
std::string dtype_of(const py::array& array) { return array.dtype().attr("str").cast<std::string>().substr(1); }

Buffer host(const Owner& owner, Text name, const std::optional<py::buffer>& data, Text dtype,
            const std::vector<u64>& shape, u64 bytes, Text output, bool random, bool pageable) {
  task::Buffer b{.name = name, .bytes = bytes, .output = output, .dtype = dtype, .shape = shape};
  b.random = random;
  b.pageable = pageable;
  if (data) {
    const Bytes contents(*data, false);
    const auto* first = static_cast<const std::byte*>(contents.info.ptr);
    b.data.assign(first, first + contents.size);
    if (py::isinstance<py::array>(*data)) {
      const auto array = py::reinterpret_borrow<py::array>(*data);
      if (dtype.empty()) b.dtype = dtype_of(array);
      if (shape.empty()) b.shape.assign(array.shape(), array.shape() + array.ndim());
      if (b.shape.empty()) b.shape = {1};
    }
  }
  return {owner, owner->use().host(std::move(b))};
}

// Tasks
// -----------------------------------------------------------------------------------------------------------------

std::vector<task::LaunchArg> arguments(const Owner& owner, const py::args& args, std::size_t first) {
  std::vector<task::LaunchArg> out;
  for (std::size_t i = first; i < args.size(); ++i) {
    if (py::isinstance<Buffer>(args[i])) {
      out.emplace_back(own(owner, py::object(args[i]).cast<const Buffer&>()));
    } else {
      out.emplace_back(whole_number(args[i], "argument " + std::to_string(i - first + 1) + " of the launch").bits);
    }
  }
  return out;
}

// The stream of a task that is added; throws behind finish().
task::StreamRef stream_of(const Stream& s) {
  s.owner->check();
  (void)s.value.size();
  return s.value;
}

task::ElementType element_type(Text name) {
  return enumerator<task::ElementType>(task::kElementTypeNames, name, "type of elements");
}

task::Hccl collective(const Stream& s, Text op, const Comm& comm, const std::optional<Buffer>& send, const Buffer& recv,
                      u64 count, Text type, Text reduce, u32 root, Text algorithm) {
  return {.op = enumerator<task::Hccl::Op>(task::kHcclOpNames, op, "collective"),
          .comm = own(s.owner, comm).index,
          .send = send ? task::Slice(own(s.owner, *send)) : task::Slice{},
          .recv = own(s.owner, recv),
          .count = count,
          .type = element_type(type),
          .reduce = enumerator<task::Hccl::Reduce>(task::kHcclReduceNames, reduce, "reduction"),
          .root = root,
          .algorithm = enumerator<task::Hccl::Algorithm>(task::kHcclAlgorithmNames, algorithm, "algorithm")};
}

void bind_tasks(py::class_<Stream>& type) {
  const auto name = py::arg("name") = "";
  type.def(
          "launch",
          [](const Stream& s, const Kernel& k, u32 blocks, const py::args& args, Text n) {
            stream_of(s).launch(own(s.owner, k), blocks, arguments(s.owner, args, 0), n);
            return s;
          },
          py::arg("kernel"), py::arg("blocks"), name, "Arguments: buffers, buffer + bytes, whole numbers.")
      .def(
          "launch_mix",
          [](const Stream& s, const Kernel& k, const Kernel& aiv, u32 aivs, u32 blocks, const py::args& args, Text n) {
            stream_of(s).launch_mix(own(s.owner, k), own(s.owner, aiv), aivs, blocks, arguments(s.owner, args, 0), n);
            return s;
          },
          py::arg("kernel"), py::arg("aiv_kernel"), py::arg("aivs"), py::arg("blocks"), name,
          "Each block is an AIC with `kernel` and `aivs` AIVs with `aiv_kernel`.")
      .def(
          "launch_cpu",
          [](const Stream& s, Text kernel, const py::args& args, u32 blocks, double seconds, Text n) {
            stream_of(s).launch_cpu(kernel, arguments(s.owner, args, 0), blocks, seconds, n);
            return s;
          },
          py::arg("kernel"), py::arg("blocks") = 1, py::arg("seconds") = 0.0, name, "A function on the AICPU.")
      .def(
          "memcpy",
          [](const Stream& s, const Buffer& dst, const Buffer& src, std::optional<u64> bytes, Text n) {
            stream_of(s).memcpy(own(s.owner, dst), own(s.owner, src), bytes, n);
            return s;
          },
          py::arg("dst"), py::arg("src"), py::arg("bytes") = py::none(), name,
          "Without bytes, all that is behind both positions.")
      .def(
          "memcpy_2d",
          [](const Stream& s, const Buffer& dst, u64 dst_pitch, const Buffer& src, u64 src_pitch, u64 width, u64 height,
             Text n) {
            stream_of(s).memcpy_2d(own(s.owner, dst), dst_pitch, own(s.owner, src), src_pitch, width, height, n);
            return s;
          },
          py::arg("dst"), py::arg("dst_pitch"), py::arg("src"), py::arg("src_pitch"), py::arg("width"),
          py::arg("height"), name)
      .def(
          "memset",
          [](const Stream& s, const Buffer& dst, u8 value, std::optional<u64> bytes, Text n) {
            stream_of(s).memset(own(s.owner, dst), value, bytes, n);
            return s;
          },
          py::arg("dst"), py::arg("value"), py::arg("bytes") = py::none(), name)
      .def(
          "reduce",
          [](const Stream& s, const Buffer& dst, const Buffer& src, u64 bytes, Text kind, Text dtype, Text n) {
            const auto how = enumerator<task::ReduceAsync::Kind>(task::kReduceKindNames, kind, "reduction");
            stream_of(s).add(task::ReduceAsync{own(s.owner, dst), own(s.owner, src), bytes, how, element_type(dtype)},
                             n);
            return s;
          },
          py::arg("dst"), py::arg("src"), py::arg("bytes"), py::arg("kind") = "ADD", py::arg("dtype") = "f4", name)
      .def(
          "hccl",
          [](const Stream& s, Text op, const Comm& comm, const Buffer& recv, const std::optional<Buffer>& send,
             u64 count, Text dtype, Text reduce, u32 root, Text algorithm, Text n) {
            stream_of(s).add(collective(s, op, comm, send, recv, count, dtype, reduce, root, algorithm), n);
            return s;
          },
          py::arg("op"), py::arg("comm"), py::arg("recv"), py::arg("send") = py::none(), py::arg("count"),
          py::arg("dtype") = "f4", py::arg("reduce") = "sum", py::arg("root") = 0, py::arg("algorithm") = "auto", name,
          "A collective: all_reduce, all_gather, reduce_scatter, broadcast, all_to_all.")
      .def(
          "free",
          [](const Stream& s, const Buffer& b, Text n) {
            stream_of(s).add(task::Free{own(s.owner, b).index}, n);
            return s;
          },
          py::arg("buffer"), name);
}

// What needs one reference alone.
template <class Part, auto Method>
Stream& add_ref(Stream& s, const Part& part) {
  task::StreamRef stream = stream_of(s);
  (stream.*Method)(own(s.owner, part));
  return s;
}

void bind_stream(BuilderType& builder) {
  using Ref = task::StreamRef;
  py::class_<Stream> type(builder, "Stream", "Adds tasks, in order; each call returns the stream.");
  bind_tasks(type);
  using RecordEvent = Ref& (Ref::*)(task::EventRef);
  using RecordNotify = Ref& (Ref::*)(task::NotifyRef);
  type.def("record", &add_ref<Event, static_cast<RecordEvent>(&Ref::record)>)
      .def("record", &add_ref<Notify, static_cast<RecordNotify>(&Ref::record)>)
      .def("wait", &add_ref<Event, static_cast<RecordEvent>(&Ref::wait)>)
      .def("wait", &add_ref<Notify, static_cast<RecordNotify>(&Ref::wait)>)
      .def("reset", &add_ref<Event, &Ref::reset>)
      .def("execute", &add_ref<Model, &Ref::execute>)
      .def("end_graph", &add_ref<Model, &Ref::end_graph>)
      .def("activate", &add_ref<Stream, &Ref::activate>)
      .def("__len__", [](const Stream& s) { return stream_of(s).size(); });
}

// The host
// --------------------------------------------------------------------------------------------------------------

task::ThreadRef thread_of(const Thread& t) {
  (void)t.owner->use();
  return t.value;
}

std::unique_ptr<Body> repeat(const Thread& t, u64 times) {
  auto at = std::make_shared<usize>();
  return std::make_unique<Body>(
      t.owner,
      [t, times, at]() -> py::object {
        *at = thread_of(t).begin_repeat(times);
        return py::none();
      },
      [t, at] { thread_of(t).end_repeat(*at); });
}

void bind_thread(BuilderType& builder) {
  const auto kAll = py::arg("count") = py::none();
  py::class_<Thread>(builder, "Thread", "Adds steps of a thread of the host; each call returns the thread.")
      .def(
          "enqueue",
          [](const Thread& t, const Stream& s, u32 first, std::optional<u32> count) {
            thread_of(t).enqueue(own(t.owner, s), first, count.value_or(task::HostEnqueue::kAll));
            return t;
          },
          py::arg("stream"), py::arg("first") = 0, kAll, "All tasks of a stream, or some of them.")
      .def(
          "compute",
          [](const Thread& t, double seconds, Text name) {
            thread_of(t).compute(seconds, name);
            return t;
          },
          py::arg("seconds"), py::arg("name") = "")
      .def("synchronize",
           [](const Thread& t, const Stream& s) {
             thread_of(t).synchronize(own(t.owner, s));
             return t;
           })
      .def("synchronize",
           [](const Thread& t, const Event& e) {
             thread_of(t).synchronize(own(t.owner, e));
             return t;
           })
      .def("synchronize_device",
           [](const Thread& t, u32 device) {
             thread_of(t).synchronize_device(device);
             return t;
           })
      .def("post",
           [](const Thread& t, const Semaphore& s) {
             thread_of(t).post(own(t.owner, s));
             return t;
           })
      .def("wait",
           [](const Thread& t, const Semaphore& s) {
             thread_of(t).wait(own(t.owner, s));
             return t;
           })
      .def("repeat", &repeat, py::arg("times"), "with t.repeat(n): the steps of the body, n times.");
}

// The builder
// -----------------------------------------------------------------------------------------------------------

void bind_parts(BuilderType& builder) {
  const auto moved = [](const Buffer& b, u64 bytes) { return Buffer{b.owner, b.value + bytes}; };
  py::class_<Buffer>(builder, "Buffer", "A position in a buffer; b + 64 is 64 bytes further.")
      .def("__add__", moved, py::is_operator())
      .def_property_readonly("offset", [](const Buffer& b) { return b.value.offset; });
  // NOLINTBEGIN(bugprone-unused-raii): to make them registers the classes
  py::class_<Kernel>(builder, "Kernel");
  py::class_<Event>(builder, "Event");
  py::class_<Notify>(builder, "Notify");
  py::class_<Model>(builder, "Model");
  py::class_<Comm>(builder, "Comm");
  py::class_<Semaphore>(builder, "Semaphore");
  // NOLINTEND(bugprone-unused-raii)
  bind_stream(builder);
  bind_thread(builder);
}

task::KernelType kernel_type(Text name) {
  return enumerator<task::KernelType>(task::kKernelTypeNames, name, "kernel type");
}

void bind_buffers_and_kernels(BuilderType& type) {
  type.def("host", &host, py::arg("name"), py::arg("data") = py::none(), py::kw_only(), py::arg("dtype") = "",
           py::arg("shape") = std::vector<u64>{}, py::arg("bytes") = 0, py::arg("output") = "",
           py::arg("random") = false, py::arg("pageable") = false,
           "A buffer of the host, with the contents of an array. `output`: the file that `vinci run` writes.")
      .def(
          "device",
          [](const Owner& o, Text name, u64 bytes, u32 device, Text l2) {
            const auto hint = enumerator<task::CacheHint>(task::kCacheHintNames, l2, "cache hint");
            return Buffer{o, o->use().device(name, bytes, device, hint)};
          },
          py::arg("name"), py::arg("bytes"), py::arg("device") = 0, py::arg("l2") = "normal", "Memory of a device.")
      .def(
          "kernel",
          [](const Owner& o, Text name, const BuiltProgram& program, Text kind) {
            return Kernel{o, o->use().kernel(name, kernel_type(kind), program.built)};
          },
          py::arg("name"), py::arg("program"), py::arg("type"), "type: AIV_ONLY, AIC_ONLY or AI_CORE.")
      .def(
          "opaque_kernel",
          [](const Owner& o, Text name, Text kind, double seconds) {
            return Kernel{o, o->use().opaque_kernel(name, kernel_type(kind), seconds)};
          },
          py::arg("name"), py::arg("type"), py::arg("seconds"), "Each block occupies its core for so long.");
}

void bind_names(BuilderType& type) {
  type.def("event",
           [](const Owner& o, Text n) {
             return Event{o, o->use().event(n)};
           })
      .def("notify",
           [](const Owner& o, Text n) {
             return Notify{o, o->use().notify(n)};
           })
      .def("model",
           [](const Owner& o, Text n) {
             return Model{o, o->use().model(n)};
           })
      .def("comm",
           [](const Owner& o, Text n, std::vector<u32> devices) {
             return Comm{o, o->use().comm(n, std::move(devices))};
           })
      .def(
          "world",
          [](const Owner& o) {
            return Comm{o, o->use().world()};
          },
          "The communicator of all devices.")
      .def(
          "semaphore",
          [](const Owner& o, Text n, u64 initial) {
            return Semaphore{o, o->use().semaphore(n, initial)};
          },
          py::arg("name"), py::arg("initial") = 0)
      .def("thread",
           [](const Owner& o, Text n) {
             return Thread{o, o->use().thread(n)};
           })
      .def(
          "stream",
          [](const Owner& o, Text n, u32 device, u8 priority, const std::optional<Model>& model, bool head) {
            task::StreamBuilder::StreamOptions options{.device = device, .priority = priority, .head = head};
            if (model) options.model = own(o, *model);
            return Stream{o, o->use().stream(n, options)};
          },
          py::arg("name"), py::arg("device") = 0, py::arg("priority") = 0, py::arg("model") = py::none(),
          py::arg("head") = true)
      .def(
          "finish",
          [](const Owner& o) {
            o->check_closed();
            return BuiltStream(o->use().finish());
          },
          "The task stream, verified. The builder is used up.");
}

}  // namespace

void bind_stream_builder(py::module_& m) {
  BuilderType type(m, "StreamBuilder", "Puts a task stream together (docs/builder.md).");
  bind_parts(type);
  type.def(py::init([](Text name, Text arch, u32 devices, Text comment) {
             return std::make_shared<StreamState>(name, enumerator<isa::Arch>(isa::kArchNames, arch, "architecture"),
                                                  devices, comment);
           }),
           py::arg("name"), py::arg("arch"), py::arg("devices") = 1, py::arg("comment") = "");
  bind_buffers_and_kernels(type);
  bind_names(type);

  py::class_<BuiltStream, TaskStream>(m, "BuiltStream", "The task stream of a StreamBuilder, to run or to save.")
      .def(
          "yaml", [](const BuiltStream& s) { return s.built().yaml(); }, "In one file, with programs as assembly.")
      .def(
          "vts",
          [](const BuiltStream& s) {
            const std::vector<std::byte> bytes = s.built().vts();
            return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
          },
          "The bytes of a .vts file.")
      .def(
          "write", [](const BuiltStream& s, Text folder) { return s.built().write(folder); }, py::arg("folder"),
          "As a folder: <name>.yaml, kernels as .s, data as .npy. Returns the path of the .yaml.");
}

}  // namespace vinci::python
