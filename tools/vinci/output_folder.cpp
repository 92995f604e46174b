// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/vinci/output_folder.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "isa/base/error.h"
#include "tools/profile/profile.h"

namespace vinci::cli {
namespace {

namespace fs = std::filesystem;

// Names that a run writes itself, whatever the task stream.
constexpr std::array kOwnFiles{"summary.txt",  "stats.json",       "run-info.json",        "chip.yaml",
                               "trace.json",   "instructions.csv", "numerics.json",        "numerics.csv",
                               "opdebug.json", "findings.json",    "trace.perfetto-trace", "report.html"};

std::string default_folder(const std::string& task_file) {
  const fs::path path = fs::path(task_file).lexically_normal();
  const std::string folder = path.parent_path().filename().string();
  const std::string stem = path.stem().string();
  return "out/" + (folder.empty() || folder == ".." || folder == "." ? stem : folder + "-" + stem);
}

std::vector<std::string> files_read(const std::string& task_file, const std::string& chip,
                                    const task::TaskStream& stream) {
  const fs::path folder(stream.folder);
  std::vector<std::string> out{task_file};
  if (!chip.empty()) out.push_back(chip);
  for (const task::Kernel& k : stream.kernels)
    out.push_back((folder / k.program.source).string());
  for (const task::Buffer& b : stream.buffers) {
    if (!b.file.empty()) out.push_back((folder / b.file).string());
  }
  return out;
}

std::vector<std::string> files_written(const std::string& task_file, const task::TaskStream& stream) {
  std::vector<std::string> out(kOwnFiles.begin(), kOwnFiles.end());
  for (const task::Buffer& b : stream.buffers) {
    if (b.output.empty()) continue;
    if (std::ranges::find(kOwnFiles, fs::path(b.output).lexically_normal().string()) != kOwnFiles.end()) {
      fail_at(Fault::Input, task_file, "buffer '{}' writes '{}', which is a file of every run; choose another name",
              b.name, b.output);
    }
    if (profile::is_profile_name(fs::path(b.output).lexically_normal().begin()->string())) {
      fail_at(Fault::Input, task_file, "buffer '{}' writes '{}', which is a name of the profile; choose another name",
              b.name, b.output);
    }
    out.push_back(b.output);
  }
  return out;
}

}  // namespace

OutputFolder::OutputFolder(const std::string& folder, const std::string& task_file, const std::string& chip,
                           const task::TaskStream& stream)
    : folder_(folder.empty() ? default_folder(task_file) : folder) {
  const std::vector<std::string> written = files_written(task_file, stream);
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) fail_at(Fault::Input, folder_, "cannot make the output folder: {}", error.message());
  for (const std::string& out : written) {
    for (const std::string& in : files_read(task_file, chip, stream)) {
      if (fs::equivalent(path(out), in, error)) {
        fail_at(Fault::Input, path(out), "the run would replace its own input; choose another folder with --out");
      }
    }
  }
  for (const std::string& out : written)
    fs::remove(path(out), error);  // what cannot be removed will not be replaced either, and is noticed then
  // The profile of an earlier run may have another time in its names.
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (profile::is_profile_name(entry.path().filename().string())) fs::remove_all(entry.path(), error);
  }
}

}  // namespace vinci::cli
