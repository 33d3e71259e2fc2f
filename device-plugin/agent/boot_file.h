// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace gpupool::agent {

// A small file that outlives the plugin, but not a loss of power: it is overwritten in place and never
// synced. So a write each second costs some system calls, and a page of the disk when the kernel writes back.
// For what is of use only until the machine boots again; anything else belongs into a StateFile. One process
// writes at a time. Not thread-safe.
class BootFile {
 public:
  explicit BootFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // Nothing if there is no such file.
  base::Result<std::optional<std::string>> read() const;
  // Makes the directory and the file if need be. If the process is killed in the middle of content of more
  // than a page, the file begins with the new content and ends with the old.
  base::Result<void> write(const std::string& content) const;

 private:
  const std::string path_;
};

}  // namespace gpupool::agent
