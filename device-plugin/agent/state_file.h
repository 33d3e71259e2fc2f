// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace gpupool::agent {

// A small file that outlives the plugin. Readers see the old content or the new one, also after a power cut.
// Not thread-safe.
class StateFile {
 public:
  explicit StateFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // Nothing if there is no such file.
  base::Result<std::optional<std::string>> read() const;
  // Writes only what differs from the last read or write. Makes the directory.
  base::Result<void> write(const std::string& content);

 private:
  const std::string path_;
  mutable std::optional<std::string> known_;
};

// Another one after every boot of the machine; empty if the kernel does not tell.
std::string read_boot_id();

}  // namespace gpupool::agent
