// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
// The Python module `vinci`: the C interface of the library (vinci/vinci.h), with handles as objects, buffers as arrays
// and failures as exceptions. docs/c-api.md
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <vinci/isa/base/fault.h>
#include <vinci/vinci.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/python/bodies.h"
#include "tools/python/built_stream.h"
#include "tools/python/embedded.h"
#include "tools/python/program.h"
#include "tools/python/run.h"
#include "tools/python/task_stream.h"

namespace py = pybind11;

namespace vinci::python {
namespace {

// An array on the memory of the run, which lives as long.
py::object array_of(const py::object& run, const vinci_output& out) {
  if (out.data == nullptr) return py::none();
  const std::string dtype = *out.dtype == '\0' ? "u1" : out.dtype;
  const std::vector<py::ssize_t> shape(out.shape, out.shape + out.dimensions);
  py::array array(py::dtype::from_args(py::str(dtype)), shape, out.data, run);
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

py::object output(const py::object& run, const std::string& name) {
  vinci_output out{};
  out.size = sizeof out;
  must(vinci_run_find_output(run.cast<Run&>().get(), c_text(name), &out));
  return array_of(run, out);
}

py::dict outputs(const py::object& run) {
  const vinci_run* handle = run.cast<Run&>().get();
  py::dict all;
  for (std::size_t i = 0; i < vinci_run_output_count(handle); ++i) {
    vinci_output out{};
    out.size = sizeof out;
    must(vinci_run_output(handle, i, &out));
    all[out.name] = array_of(run, out);
  }
  return all;
}

py::object json(const char* text) {
  return *text == '\0' ? py::none() : py::module_::import("json").attr("loads")(text);
}

// The device, and the arrays that its waiting tasks fill.
struct DeviceState {
  std::shared_ptr<vinci_device> device;
  std::vector<CopyOut> outs;
};

struct Buffer {
  std::shared_ptr<DeviceState> state;
  vinci_buffer* handle;
  std::size_t bytes;
};

struct Kernel {
  std::shared_ptr<DeviceState> state;
  vinci_kernel* handle;

  // Arguments: numbers, buffers, or (buffer, offset).
  void launch(std::uint32_t block_dim, const py::args& args) const {
    std::vector<vinci_arg> out;
    for (const py::handle& a : args)
      out.push_back(argument(a, out.size() + 1));
    must(vinci_launch(handle, block_dim, out.data(), out.size()));
  }

 private:
  static vinci_arg argument(py::handle a, std::size_t place) {
    if (py::isinstance<Buffer>(a)) return {a.cast<Buffer&>().handle, 0};
    if (PyIndex_Check(a.ptr())) return {nullptr, number(a, place, true)};
    if (py::isinstance<py::tuple>(a)) {
      const auto pair = py::reinterpret_borrow<py::tuple>(a);
      if (pair.size() == 2 && py::isinstance<Buffer>(pair[0]) && PyIndex_Check(py::object(pair[1]).ptr()))
        return {pair[0].cast<Buffer&>().handle, number(pair[1], place, false)};
    }
    refuse(a, place, "no whole number, no buffer and no (buffer, offset)");
  }

  // 64 bits; negative numbers as two's complement.
  static std::uint64_t number(py::handle a, std::size_t place, bool negative) {
    const auto whole = py::reinterpret_steal<py::int_>(PyNumber_Index(a.ptr()));
    if (!whole) throw py::error_already_set();
    const unsigned long long large = PyLong_AsUnsignedLongLong(whole.ptr());
    if (PyErr_Occurred() == nullptr) return large;
    PyErr_Clear();
    const long long small = PyLong_AsLongLong(whole.ptr());
    if (PyErr_Occurred() == nullptr && negative) return static_cast<std::uint64_t>(small);
    PyErr_Clear();
    refuse(a, place,
           negative ? "not from -2^63 to 2^64 - 1" : "a buffer with an offset that is not from 0 to 2^64 - 1");
  }

  [[noreturn]] static void refuse(py::handle a, std::size_t place, const std::string& why) {
    throw Failure{VINCI_ERROR_INPUT,
                  "argument " + std::to_string(place) + " of the kernel is " + why + ": " + std::string(py::repr(a))};
  }
};

class Device {
 public:
  explicit Device(const Chip& chip) {
    vinci_device* made = nullptr;
    must(vinci_device_create(chip.get(), &made));
    state_ = std::make_shared<DeviceState>();
    state_->device.reset(made, vinci_device_destroy);
  }
  Buffer alloc(std::size_t bytes) const {
    vinci_buffer* made = nullptr;
    must(vinci_malloc(state_->device.get(), bytes, &made));
    return {state_, made, bytes};
  }
  Kernel kernel(const std::string& program, const std::string& core, const std::string& name) const {
    const std::vector<std::string> cores{"ai", "cube", "vector"};
    const auto at = std::find(cores.begin(), cores.end(), core);
    if (at == cores.end())
      throw Failure{VINCI_ERROR_INPUT, "core '" + core + "': a kernel runs on ai, cube or vector cores"};
    vinci_kernel* made = nullptr;
    must(vinci_kernel_create(state_->device.get(), c_text(name), static_cast<vinci_core>(at - cores.begin()),
                             program.data(), program.size(), &made));
    return {state_, made};
  }
  std::unique_ptr<Run> submit(const vinci_options& o) const {
    vinci_run* run = nullptr;
    must(vinci_device_submit(state_->device.get(), &o, &run));
    return std::make_unique<Run>(run, state_->device, std::exchange(state_->outs, {}));
  }

 private:
  std::shared_ptr<DeviceState> state_;
};

}  // namespace
}  // namespace vinci::python

PYBIND11_MODULE(vinci, m) {
  using namespace vinci::python;  // NOLINT: what the module is made of

  m.doc() = "Simulator of Da Vinci-style NPUs (Ascend AI Core). docs/c-api.md";
  m.attr("__version__") = vinci_version_text();

  // An exception with the members `status` and `code` in addition to its message.
  static const py::handle error =
      PyErr_NewExceptionWithDoc("vinci.Error", "status: input, program, ...; code: its number", nullptr, nullptr);
  m.attr("Error") = error;
  static const auto raise = [](const Failure& f) {
    // A path or a name in the message may be no UTF-8.
    const auto text = py::reinterpret_steal<py::str>(
        PyUnicode_DecodeUTF8(f.text.data(), static_cast<py::ssize_t>(f.text.size()), "backslashreplace"));
    py::object made = error(text);
    made.attr("status") = vinci_status_name(f.status);
    made.attr("code") = static_cast<int>(f.status);
    PyErr_SetObject(error.ptr(), made.ptr());
  };
  // NOLINTNEXTLINE(performance-unnecessary-value-param): as pybind11 calls it
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const Failure& f) {
      raise(f);
    } catch (const vinci::Error& e) {
      raise(Failure{static_cast<vinci_status>(e.fault()), e.what()});
    }
  });

  py::class_<Chip>(m, "Chip", "A built-in chip or a chip file, with overrides such as 'core.cube.startup=30'.")
      .def(py::init<const std::string&, const std::vector<std::string>&>(), py::arg("name_or_file"),
           py::arg("overrides") = std::vector<std::string>{})
      .def_static("parse", &Chip::parse, py::arg("text"), py::arg("overrides") = std::vector<std::string>{})
      .def_property_readonly("name", [](const Chip& c) { return vinci_chip_name(c.get()); })
      .def_property_readonly("arch", [](const Chip& c) { return vinci_chip_arch(c.get()); })
      .def_property_readonly("clock", [](const Chip& c) { return vinci_chip_clock(c.get()); })
      .def_property_readonly("ai_cores", [](const Chip& c) { return vinci_chip_ai_cores(c.get()); })
      .def_property_readonly("vector_cores", [](const Chip& c) { return vinci_chip_vector_cores(c.get()); })
      .def_property_readonly(
          "text", [](const Chip& c) { return vinci_chip_text(c.get()); }, "As a chip file.")
      .def_property_readonly(
          "values",
          [](const Chip& c) { return py::module_::import("vinci").attr("Group")(json(vinci_chip_json(c.get()))); },
          "All keys as nested objects, a Group; chip.core.cube.startup is short for chip.values.core.cube.startup.");

  py::class_<Run>(m, "Run", "A run; its numbers are there when it is done.")
      .def("wait", &Run::wait, "Does the run, if it is not done.")
      .def(
          "cancel", [](const Run& r) { vinci_cancel(r.get()); }, "From another thread.")
      .def_property_readonly("cycles", [](const Run& r) { return vinci_run_cycles(r.get()); })
      .def_property_readonly("seconds", [](const Run& r) { return vinci_run_seconds(r.get()); })
      .def_property_readonly("kernel_cycles", [](const Run& r) { return vinci_run_kernel_cycles(r.get()); })
      .def_property_readonly(
          "cold_cycles", [](const Run& r) { return vinci_run_cold_cycles(r.get()); },
          "Of kernel_cycles, those of cold starts, which a first launch has.")
      .def_property_readonly(
          "warm_cycles", [](const Run& r) { return vinci_run_kernel_cycles(r.get()) - vinci_run_cold_cycles(r.get()); },
          "In which kernels ran, without their cold starts, as when they are launched again.")
      .def_property_readonly("instructions", [](const Run& r) { return vinci_run_instructions(r.get()); })
      .def_property_readonly(
          "stats", [](const Run& r) { return json(vinci_run_stats(r.get())); }, "stats.json")
      .def(
          "explain",
          [](const Run& r) {
            const char* text = nullptr;
            must(vinci_run_explain(r.get(), &text));
            return json(text);
          },
          "Why the kernels took their time, as explain.json: critical paths, lines, limits, advice")
      .def(
          "range",
          [](const Run& r) {
            const char* text = nullptr;
            must(vinci_run_range(r.get(), &text));
            return json(text);
          },
          "How far off the time may be by what the chip assumes, as range.json; simulates again, many times.")
      .def(
          "trace",
          [](const Run& r) {
            const char* text = nullptr;
            must(vinci_run_trace(r.get(), &text));
            return json(text);
          },
          "The timeline in the Chrome trace format, as trace.json; simulates again. spans() has it as columns.")
      .def(
          "report",
          [](const Run& r) {
            const char* text = nullptr;
            must(vinci_run_report(r.get(), &text));
            return std::string(text);
          },
          "The run as a page, as report.html; a notebook shows a run that way.")
      .def_property_readonly("findings", [](const Run& r) { return json(vinci_run_findings(r.get())); })
      .def_property_readonly("numerics", [](const Run& r) { return json(vinci_run_numerics(r.get())); })
      .def(
          "file",
          [](const Run& r, const std::string& name) {
            const void* data = nullptr;
            std::size_t size = 0;
            must(vinci_run_file(r.get(), c_text(name), &data, &size));
            return py::bytes(static_cast<const char*>(data), size);
          },
          py::arg("name"), "The bytes of a file of the run, by its name in the folder of `vinci run`: 'numerics.csv'.")
      .def_property_readonly(
          "files",
          [](const Run& r) {
            py::list names;
            for (std::size_t i = 0; i < vinci_run_file_count(r.get()); ++i)
              names.append(vinci_run_file_name(r.get(), i));
            return names;
          },
          "The names of files that file() has without simulating again.")
      .def("counter", &Run::counter, py::arg("path"), "Such as 'core0.AIC/M/busy'.")
      .def("output", &output, py::arg("name"), "An array on the memory of the run; None without data.")
      .def_property_readonly("outputs", &outputs);

  bind_bodies(m);
  bind_program(m);

  const auto mode = py::arg("mode") = "full";
  const auto max_cycles = py::arg("max_cycles") = std::numeric_limits<std::uint64_t>::max();
  const auto seed = py::arg("seed") = std::uint64_t{0};
  const auto threads = py::arg("threads") = 0u;
  const auto check = py::arg("check") = false;
  const auto numerics = py::arg("numerics") = Numerics(false);
  using Text = const std::string&;
  using Number = std::uint64_t;

  py::class_<TaskStream>(m, "TaskStream")
      .def_static("load", &TaskStream::load, py::arg("path"), "A .yaml or .vts file.")
      .def_static("parse", &TaskStream::parse, py::arg("text"), py::arg("folder") = py::none(),
                  "YAML text or the bytes of a .vts; files that it names are looked up beneath the folder.")
      .def_property_readonly("name", [](const TaskStream& s) { return vinci_stream_name(s.get()); })
      .def_property_readonly("arch", [](const TaskStream& s) { return vinci_stream_arch(s.get()); })
      .def("set_input", &TaskStream::set_input, py::arg("buffer"), py::arg("data"), "The contents of a host buffer.")
      .def(
          "submit",
          [](const TaskStream& s, const Chip& chip, Text m_, Number c, Number s_, std::uint32_t t, bool check_,
             const Numerics& numerics_) { return s.submit(chip, options(m_, c, s_, t, check_, numerics_)); },
          py::arg("chip"), mode, max_cycles, seed, threads, check, numerics, "A run that wait() does.")
      .def(
          "run",
          [](const TaskStream& s, const Chip& chip, Text m_, Number c, Number s_, std::uint32_t t, bool check_,
             const Numerics& numerics_) {
            auto run = s.submit(chip, options(m_, c, s_, t, check_, numerics_));
            run->wait();
            return run;
          },
          py::arg("chip"), mode, max_cycles, seed, threads, check, numerics, "A run that is done.");

  bind_stream_builder(m);

  py::class_<Buffer>(m, "Buffer", "Device memory.")
      .def_readonly("bytes", &Buffer::bytes)
      .def(
          "write",
          [](const Buffer& b, const py::buffer& data, std::size_t offset) {
            const Bytes bytes(data, false);
            must(vinci_write(b.handle, offset, bytes.info.ptr, bytes.size));
          },
          py::arg("data"), py::arg("offset") = std::size_t{0}, "At once, without time.")
      .def(
          "read",
          [](const Buffer& b, const py::buffer& into, std::size_t offset) {
            const Bytes bytes(into, true);
            must(vinci_read(b.handle, offset, bytes.info.ptr, bytes.size));
          },
          py::arg("into"), py::arg("offset") = std::size_t{0}, "Into an array, at once, without time.")
      .def(
          "copy_in",
          [](const Buffer& b, const py::buffer& data, std::size_t offset) {
            const Bytes bytes(data, false);
            must(vinci_copy_in(b.handle, offset, bytes.info.ptr, bytes.size));
          },
          py::arg("data"), py::arg("offset") = std::size_t{0}, "A task of the next run.")
      .def(
          "copy_out",
          [](const Buffer& b, const py::buffer& into, std::size_t offset) {
            CopyOut out(into);
            must(vinci_copy_out(out.staged.get(), b.handle, offset, out.bytes.size));
            b.state->outs.push_back(std::move(out));
          },
          py::arg("into"), py::arg("offset") = std::size_t{0}, "A task of the next run, which fills the array.")
      .def("free", [](const Buffer& b) { must(vinci_free(b.handle)); });

  py::class_<Kernel>(m, "Kernel")
      .def("launch", &Kernel::launch, py::arg("block_dim"),
           "A task of the next run; arguments: numbers, buffers, (buffer, offset).");

  py::class_<Device>(m, "Device", "A device of a chip; its memory stays from run to run.")
      .def(py::init<const Chip&>(), py::arg("chip"))
      .def("alloc", &Device::alloc, py::arg("bytes"))
      .def("kernel", &Device::kernel, py::arg("program"), py::arg("core") = "vector", py::arg("name") = "kernel",
           "From assembly text or the bytes of a program file, for cores: vector, cube, ai.")
      .def(
          "kernel",
          [](const Device& d, const BuiltProgram& program, Text core, Text name) {
            const std::vector<std::byte> file = program.built.file();
            return d.kernel({reinterpret_cast<const char*>(file.data()), file.size()}, core, name);
          },
          py::arg("program"), py::arg("core") = "vector", py::arg("name") = "kernel", "From a vinci.Program.")
      .def(
          "submit",
          [](const Device& d, Text m_, Number c, Number s_, std::uint32_t t, bool check_, const Numerics& numerics_) {
            return d.submit(options(m_, c, s_, t, check_, numerics_));
          },
          mode, max_cycles, seed, threads, check, numerics, "A run of what was called since the last; wait() does it.")
      .def(
          "run",
          [](const Device& d, Text m_, Number c, Number s_, std::uint32_t t, bool check_, const Numerics& numerics_) {
            auto run = d.submit(options(m_, c, s_, t, check_, numerics_));
            run->wait();
            return run;
          },
          mode, max_cycles, seed, threads, check, numerics, "A run that is done.");

  for (const EmbeddedFile& file : embedded_files()) {
    const py::module_ builtins = py::module_::import("builtins");
    const py::object code =
        builtins.attr("compile")(std::string(file.text), "<vinci " + std::string(file.path) + ">", "exec");
    builtins.attr("exec")(code, m.attr("__dict__"));
  }
}
