// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/network_inputs.h"

#include <algorithm>
#include <span>

#include "isa/base/error.h"
#include "isa/base/suggest.h"
#include "sim/io/input_file.h"
#include "sim/io/npy.h"
#include "tools/graph/ops/run.h"
#include "tools/run/arguments.h"

namespace vinci::cli {
namespace {

graph::Array read_npy(const std::string& path) {
  const io::InputFile file(path);
  const io::NpyHeader header =
      io::parse_npy_header(file.read(0, std::min(file.size(), io::kNpyMaxHeaderBytes)), file.size(), path);
  const auto type = std::ranges::find(graph::kDataTypes, std::string_view(header.dtype), &graph::DataTypeInfo::npy);
  VINCI_CHECK(type != graph::kDataTypes.end());
  const graph::Dims dims(header.shape.begin(), header.shape.end());
  return graph::Tensor(static_cast<graph::DataType>(type - graph::kDataTypes.begin()), dims,
                       file.read(header.data_offset, header.data_bytes))
      .array();
}

}  // namespace

NetworkInputs::NetworkInputs(std::string_view files, u64 seed) : seed_(seed) {
  for (const std::string& part : run::split_list(files, ';')) {
    const usize colon = part.find(':');
    if (colon == std::string::npos || colon == 0) fail_at(Fault::Input, "--input", "'{}' is no name:file.npy", part);
    files_.insert_or_assign(part.substr(0, colon), part.substr(colon + 1));
  }
}

std::vector<graph::Array> NetworkInputs::data(const graph::Graph& graph) const {
  std::vector<graph::Array> out = graph::random_inputs(graph, seed_);
  std::vector<std::string_view> names;
  for (const graph::Value* const v : graph.inputs)
    names.push_back(v->name);
  for (const auto& [name, path] : files_) {
    const auto at = std::ranges::find(names, name);
    if (at == names.end())
      fail_at(Fault::Input, "--input", "the model has no input '{}'{}", name, did_you_mean(name, names));
    const graph::Value& input = *graph.inputs[static_cast<usize>(at - names.begin())];
    graph::Array read = read_npy(path);
    if (graph::Shape(read.dims) != input.shape)
      fail(Fault::Input, "{}: it has the shape {}, the input {} has {}", path, text(graph::Shape(read.dims)), name,
           text(input.shape));
    if (graph::is_float(read.type) && !graph::is_float(input.type))
      fail(Fault::Input, "{}: it holds {}, the input {} is {}", path, info(read.type).name, name,
           info(input.type).name);
    read.type = input.type;
    read.round();
    out[static_cast<usize>(at - names.begin())] = std::move(read);
  }
  return out;
}

}  // namespace vinci::cli
