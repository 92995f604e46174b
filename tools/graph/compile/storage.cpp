// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/graph/compile/storage.h"

#include <cstring>

#include "isa/mem/trans_data.h"
#include "tools/graph/kernels/kernel.h"

namespace vinci::graph {
namespace {

isa::TensorLayout layout_of(const Value& value, isa::Format format) {
  std::vector<u64> dims(value.shape.dims().begin(), value.shape.dims().end());
  if (format == isa::Format::ND && dims.size() < 2) dims.insert(dims.begin(), 2 - dims.size(), 1);
  return isa::tensor_layout(format, dims, c0_of(value.type));
}

// The format of the model, for maps under the name that has their axes.
isa::Format plain_format(const Value& value) { return value.shape.rank() == 4 ? isa::Format::NCHW : isa::Format::ND; }

isa::Format named_format(const Value& value) {
  return value.format == isa::Format::ND ? plain_format(value) : value.format;
}

// Every element of the tensor is at the same position in both layouts.
bool same_places(const isa::TensorLayout& a, const isa::TensorLayout& b) {
  for (usize axis = 0; axis < a.axes(); ++axis) {
    for (u64 c = 0; c < a.extent(axis); ++c) {
      if (a.axis_offset(axis, c) != b.axis_offset(axis, c)) return false;
    }
  }
  return true;
}

}  // namespace

u64 allocated_bytes(const Value& value) { return align_up<u64>(stored_bytes(value) + 32, kLineBytes); }

bool is_alias(const Node& node) {
  if (node.type == "Reshape" || node.type == "FlattenV2" || node.type == "Squeeze" || node.type == "Unsqueeze")
    return true;
  if (node.type != "TransData") return false;
  const Value &in = *node.input(0), &out = *node.output();
  // A padded tensor has room for one without padding, not the other way round.
  return stored_elements(in) >= stored_elements(out) &&
         same_places(layout_of(in, named_format(in)), layout_of(out, named_format(out)));
}

const Value* storage_of(const Value* value) {
  while (value->producer() != nullptr && is_alias(*value->producer()))
    value = value->producer()->input(0);
  return value;
}

namespace {

// A tensor of the type and the extents of the value, as stored on the device.
std::vector<std::byte> to_storage(const Value& value, const Tensor& tensor) {
  if (value.format == isa::Format::ND) return {tensor.bytes().begin(), tensor.bytes().end()};
  const isa::TensorLayout to = layout_of(value, value.format);
  std::vector<std::byte> out(to.elements() * info(value.type).bytes);
  isa::trans_data(layout_of(value, plain_format(value)), tensor.bytes(), to, out, info(value.type).bytes);
  return out;
}

}  // namespace

std::vector<u64> stored_extents(const Value& value) {
  if (value.format == isa::Format::ND) {
    // A scalar is an array of one element: buffers have a shape.
    if (value.shape.rank() == 0) return {1};
    return {value.shape.dims().begin(), value.shape.dims().end()};
  }
  const isa::TensorLayout layout = layout_of(value, value.format);
  std::vector<u64> out;
  for (usize i = 0; i < layout.dims(); ++i)
    out.push_back(layout.dim(i));
  return out;
}

std::vector<std::byte> to_storage(const Value& value, const Array& array) {
  Array typed = array;
  typed.type = value.type;
  return to_storage(value, Tensor(typed));
}

Array from_storage(const Value& value, std::span<const std::byte> bytes) {
  std::vector<std::byte> plain(value.shape.elements() * info(value.type).bytes);
  if (value.format == isa::Format::ND) {
    std::memcpy(plain.data(), bytes.data(), plain.size());
  } else {
    isa::trans_data(layout_of(value, value.format), bytes.first(stored_bytes(value)),
                    layout_of(value, plain_format(value)), plain, info(value.type).bytes);
  }
  return Tensor(value.type, value.shape.dims(), std::move(plain)).array();
}

std::vector<std::byte> stored_constant(const Value& value) {
  const Tensor& constant = *value.constant;
  std::vector<std::byte> bytes =
      constant.type() == value.type ? to_storage(value, constant) : to_storage(value, constant.array());
  bytes.resize(allocated_bytes(value));
  return bytes;
}

}  // namespace vinci::graph
