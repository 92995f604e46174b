// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/kernel_signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "isa/base/error.h"
#include "sim/io/input_file.h"
#include "tools/run/arguments.h"

namespace vinci::cli {
namespace {

// The list of parameters of the template whose declaration ends the text: "template <int A, typename T>". Empty if it
// does not end so.
std::string template_list(std::string_view text) {
  const usize last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos || text[last] != '>') return {};
  usize depth = 0, at = last + 1;
  while (at-- > 0) {
    if (text[at] == '>') ++depth;
    if (text[at] == '<' && --depth == 0) break;
    if (at == 0) return {};
  }
  const usize word = text.find_last_not_of(" \t\r\n", at == 0 ? 0 : at - 1);
  constexpr std::string_view kTemplate = "template";
  if (at == 0 || word == std::string_view::npos || word + 1 < kTemplate.size() ||
      text.substr(word + 1 - kTemplate.size(), kTemplate.size()) != kTemplate)
    return {};
  return std::string(text.substr(at + 1, last - at - 1));
}

std::vector<TemplateParameter> template_parameters(const std::string& list) {
  static const std::regex parameter(R"(^\s*(.*?)\s*(\w+)\s*(=.*)?$)");
  std::vector<TemplateParameter> out;
  for (const std::string& text : run::split_list(list, ',')) {
    std::smatch m;
    if (!std::regex_search(text, m, parameter)) continue;
    std::string type = m[1];
    if (type == "class") type = "typename";
    out.push_back({type, m[2]});
  }
  return out;
}

}  // namespace

std::string without_comments(std::string_view text) {
  std::string out;
  for (usize at = 0; at < text.size();) {
    const bool line = text.substr(at).starts_with("//"), block = text.substr(at).starts_with("/*");
    if (!line && !block) {
      out += text[at++];
      continue;
    }
    const usize end = line ? text.find('\n', at) : text.find("*/", at + 2);
    out += ' ';
    at = end == std::string_view::npos ? text.size() : line ? end : end + 2;
  }
  return out;
}

std::vector<KernelSignature> kernels_in(const std::string& code) {
  static const std::regex kernel(
      R"((extern\s*"C"\s*)?(__global__\s+(__aicore__|\[aicore\])|(__aicore__|\[aicore\])\s+__global__)\s+void\s+(\w+)\s*\(([^)]*)\))"),
      name(R"((\w+)\s*$)");
  std::vector<KernelSignature> out;
  for (std::sregex_iterator at(code.begin(), code.end(), kernel), end; at != end; ++at) {
    KernelSignature& s = out.emplace_back();
    s.name = (*at)[5];
    s.template_parameters =
        template_parameters(template_list(std::string_view(code).substr(0, static_cast<usize>(at->position()))));
    for (const std::string& parameter : run::split_list((*at)[6].str(), ',')) {
      std::smatch word;
      if (std::regex_search(parameter, word, name)) s.parameters.push_back(word[1]);
    }
  }
  return out;
}

const KernelSignature& kernel_named(const std::vector<KernelSignature>& all, const std::string& name,
                                    const std::string& file) {
  if (all.empty()) fail_at(Fault::Input, file, "there is no kernel (`__global__ __aicore__ void name(...)`)");
  if (all.size() == 1) return all[0];
  const auto at = std::ranges::find(all, name, &KernelSignature::name);
  if (at != all.end()) return *at;
  std::vector<std::string> names;
  for (const KernelSignature& s : all)
    names.push_back(s.name);
  fail_at(Fault::Input, file, "none of its kernels ({}) is called {}", fmt::join(names, ", "), name);
}

bool has_products(const std::string& folder) {
  namespace fs = std::filesystem;
  static const std::regex product(
      R"(\bREGIST_MATMUL_OBJ\b|\bMatmulImpl\b|\bMmad\s*[<(]|\bKERNEL_TYPE_(MIX|AIC)|\bASCEND_IS_AIC\b)");
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string(), ending = it->path().extension().string();
    if (it->is_directory() && name.starts_with("arch3")) it.disable_recursion_pending();
    if (!it->is_regular_file() || it->path().stem().string().ends_with("_apt")) continue;
    if (ending != ".h" && ending != ".cpp" && ending != ".hpp" && ending != ".asc") continue;
    if (std::regex_search(without_comments(io::read_file(it->path().string())), product)) return true;
  }
  return false;
}

}  // namespace vinci::cli
