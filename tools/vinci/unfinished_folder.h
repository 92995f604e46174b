// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#pragma once

#include <string>

namespace vinci::cli {

// The output folder of a command that computes for long before it writes. A command that ends before, by an error, by
// Ctrl-C, SIGTERM or SIGHUP, leaves no folder that was not there. There is one object at a time.
class UnfinishedFolder {
 public:
  // Makes no folder; it is to be made behind this.
  explicit UnfinishedFolder(const std::string& folder);
  ~UnfinishedFolder();
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;

  // From here on signals wait until all files are there.
  void writing();
  // Ends the process if a signal came while it wrote.
  void finished();
};

}  // namespace vinci::cli
