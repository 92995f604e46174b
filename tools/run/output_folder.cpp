// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "tools/run/output_folder.h"

#include <algorithm>
#include <filesystem>

#include "isa/base/error.h"
#include "sim/io/atomic_file.h"
#include "sim/task/locate.h"
#include "tools/profile/profile.h"
#include "tools/results/outputs.h"

namespace vinci::run {
namespace {

namespace fs = std::filesystem;

// Names that a run writes itself, for every task stream.
std::vector<std::string_view> own_files() {
  std::vector<std::string_view> out{"summary.txt",          "run-info.json", "trace.json",   "instructions.csv",
                                    "trace.perfetto-trace", "report.html",   "explain.json", "range.json"};
  for (const results::OutputFile* file : results::kOutputFiles)
    out.push_back(file->name);
  return out;
}

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

template <class... A>
[[noreturn]] void refuse_output(const std::string& task_file, const task::TaskStream& stream, usize buffer,
                                fmt::format_string<A...> why, A&&... args) {
  const task::Buffer& b = stream.buffers[buffer];
  fail_at(Fault::Input, task::locate(task_file, task::Path{} / "buffers" / buffer / "output"),
          "buffer '{}' writes '{}', {}", b.name, b.output, fmt::format(why, std::forward<A>(args)...));
}

// The first part of an output's path must not be a name that the run uses itself.
void refuse_reserved(const std::string& task_file, const task::TaskStream& stream, usize buffer) {
  const std::string first = fs::path(stream.buffers[buffer].output).lexically_normal().begin()->string();
  const std::vector<std::string_view> own = own_files();
  if (std::ranges::find(own, first) != own.end())
    refuse_output(task_file, stream, buffer, "which is a file of every run; choose another name");
  if (profile::is_profile_name(first))
    refuse_output(task_file, stream, buffer, "which is a name of the profile; choose another name");
}

std::vector<std::string> files_written(const std::string& task_file, const task::TaskStream& stream) {
  const std::vector<std::string_view> own = own_files();
  std::vector<std::string> out(own.begin(), own.end());
  for (usize i = 0; i < stream.buffers.size(); ++i) {
    if (stream.buffers[i].output.empty()) continue;
    refuse_reserved(task_file, stream, i);
    out.push_back(stream.buffers[i].output);
  }
  return out;
}

bool is_beneath(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

}  // namespace

OutputFolder::OutputFolder(const std::string& folder, const std::string& task_file, const std::string& chip,
                           const task::TaskStream& stream, std::shared_ptr<const io::LockedFolder> reserved)
    : folder_(folder.empty() ? default_folder(task_file) : folder), lock_(std::move(reserved)) {
  const std::vector<std::string> written = files_written(task_file, stream);
  if (lock_ == nullptr || lock_->path() != folder_) lock_ = std::make_shared<const io::LockedFolder>(folder_);
  refuse_inputs(written, files_read(task_file, chip, stream));
  prepare_outputs(task_file, stream);
  remove_earlier(written);
}

void OutputFolder::refuse_inputs(const std::vector<std::string>& written, const std::vector<std::string>& read) const {
  std::error_code error;
  for (const std::string& out : written) {
    for (const std::string& in : read) {
      if (fs::equivalent(path(out), in, error)) {
        fail_at(Fault::Input, path(out), "the run would replace its own input; choose another folder with --out");
      }
    }
  }
}

void OutputFolder::prepare_outputs(const std::string& task_file, const task::TaskStream& stream) const {
  std::error_code error;
  const fs::path root = fs::canonical(folder_, error);
  for (usize i = 0; i < stream.buffers.size(); ++i) {
    if (stream.buffers[i].output.empty()) continue;
    const fs::path target = (root / stream.buffers[i].output).lexically_normal();
    if (!is_beneath(fs::weakly_canonical(target.parent_path(), error), root))
      refuse_output(task_file, stream, i, "through a symbolic link that leaves the output folder {}", folder_);
    fs::create_directories(target.parent_path(), error);
    if (error) refuse_output(task_file, stream, i, "whose folder cannot be made: {}", error.message());
    if (fs::is_directory(fs::symlink_status(target, error)))
      refuse_output(task_file, stream, i, "which is a folder in {}; choose another name", folder_);
    io::remove_abandoned(target.parent_path().string());
  }
}

void OutputFolder::remove_earlier(const std::vector<std::string>& written) const {
  std::error_code error;
  for (const std::string& out : written)
    fs::remove(path(out), error);  // a file that stays cannot be replaced either: writing it will fail
  // The profile of an earlier run may have another time in its names.
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (profile::is_profile_name(entry.path().filename().string())) fs::remove_all(entry.path(), error);
  }
}

}  // namespace vinci::run
