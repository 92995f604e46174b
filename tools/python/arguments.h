// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <pybind11/pybind11.h>
#include <vinci/vinci.h>

#include <memory>
#include <string>

// What the classes of the module share: failures, texts, bytes of arrays, handles.
namespace vinci::python {

struct Failure {
  vinci_status status;
  std::string text;
};

inline void must(vinci_status status) {
  if (status != VINCI_OK) throw Failure{status, vinci_last_error()};
}

// A text of Python as one of C.
inline const char* c_text(const std::string& text) {
  if (text.find('\0') != std::string::npos) throw Failure{VINCI_ERROR_INPUT, "a text has a zero byte: no name has one"};
  return text.c_str();
}

// The bytes of an object with the buffer protocol, in one piece. While it lives, the object keeps them where they are.
struct Bytes {
  pybind11::buffer_info info;
  std::size_t size = 0;

  Bytes(const pybind11::buffer& b, bool writable) : info(b.request(writable)) {
    if (info.format.find_first_of("O>!") != std::string::npos)
      throw Failure{VINCI_ERROR_INPUT,
                    "an array of objects, or of another byte order than the machine's, has no bytes to copy"};
    pybind11::ssize_t dense = info.itemsize;
    for (pybind11::ssize_t d = info.ndim; d-- > 0;) {
      if (info.shape[static_cast<std::size_t>(d)] > 1 && info.strides[static_cast<std::size_t>(d)] != dense)
        throw Failure{VINCI_ERROR_INPUT, "the array is not contiguous; numpy.ascontiguousarray() makes one that is"};
      dense *= info.shape[static_cast<std::size_t>(d)];
    }
    size = static_cast<std::size_t>(info.size * info.itemsize);
  }
};

template <class T, void (*Destroy)(T*)>
struct Destroyer {
  void operator()(T* p) const { Destroy(p); }
};
template <class T, void (*Destroy)(T*)>
using Handle = std::unique_ptr<T, Destroyer<T, Destroy>>;

}  // namespace vinci::python
