// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gpupool::kubelet {

// Held by the one process that serves a resource on this node: a rolling update starts the new plugin before
// the old one has ended. The kernel lets go of it when the process ends, however it ends. Not thread-safe.
class ResourceLock {
 public:
  // Nothing: another process holds it. kIo: the file cannot be made.
  static base::Result<std::optional<ResourceLock>> try_take(const std::string& path);

  // False when someone has removed or replaced the file: then a second plugin could lock another one.
  bool in_place() const;

 private:
  ResourceLock(std::string path, base::UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  base::UniqueFd fd_;
};

}  // namespace gpupool::kubelet
