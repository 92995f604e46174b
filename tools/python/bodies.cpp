// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/python/bodies.h"

namespace py = pybind11;

namespace vinci::python {

void Body::fail(const char* why) {
  builder_->broken = why;
  throw Failure{VINCI_ERROR_INPUT, why};
}

py::object Body::enter() {
  builder_->check();
  if (id_ != 0) fail("a body of a with statement of this builder was entered twice");
  try {
    py::object value = begin_();
    id_ = ++builder_->count;
    builder_->open.push_back(id_);
    return value;
  } catch (...) {
    builder_->broken = "this builder was left by an exception at the beginning of a with statement";
    throw;
  }
}

bool Body::exit(py::handle type) {
  if (!type.is_none()) {
    if (builder_->broken.empty()) builder_->broken = "a with statement of this builder was left by an exception";
    return false;
  }
  builder_->check();
  if (id_ == 0 || ended_) fail("a body of a with statement of this builder ended without a beginning");
  if (builder_->open.empty() || builder_->open.back() != id_)
    fail("bodies of with statements of this builder ended in another order than they began");
  ended_ = true;
  try {
    end_();
  } catch (...) {
    builder_->broken = "this builder was left by an exception at the end of a with statement";
    throw;
  }
  builder_->open.pop_back();
  return false;
}

WholeNumber whole_number(py::handle number, std::string_view what) {
  const auto refuse = [&](const char* why) {
    throw Failure{VINCI_ERROR_INPUT, std::string(what) + ": " + std::string(py::repr(number)) + why};
  };
  if (PyFloat_Check(number.ptr())) refuse(" is no whole number; vinci.f32() and vinci.f16() give the bits of a float");
  if (!PyIndex_Check(number.ptr())) refuse(" is no number");
  const auto whole = py::reinterpret_steal<py::int_>(PyNumber_Index(number.ptr()));
  if (!whole) throw py::error_already_set();
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  if (overflow == 0) return {static_cast<std::uint64_t>(small), small < 0};
  const unsigned long long large = PyLong_AsUnsignedLongLong(whole.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    refuse(" is not from -2^63 to 2^64 - 1");
  }
  return {large, false};
}

void bind_bodies(py::module_& m) {
  py::class_<Body>(m, "Body", "A context manager of a builder.", py::module_local())
      .def("__enter__", &Body::enter)
      .def("__exit__",
           [](Body& b, const py::object& type, const py::object&, const py::object&) { return b.exit(type); });
}

}  // namespace vinci::python
