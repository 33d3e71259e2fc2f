#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace gpupool::kubelet {

// Held by the one process that serves a resource on this node: a rolling update starts the new plugin before
// the old one has ended. The kernel lets go of it when the process ends, however it ends. Not thread-safe.
class ResourceLock {
 public:
  // Nothing: another process holds it. kIo: the file cannot be made.
  static base::Result<std::optional<ResourceLock>> try_take(const std::string& path);

  ResourceLock(ResourceLock&& other) noexcept;
  ResourceLock& operator=(ResourceLock&& other) noexcept;
  ~ResourceLock();

  // False when someone has removed or replaced the file: then a second plugin could lock another one.
  bool in_place() const;

 private:
  ResourceLock(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_ = -1;
};

}  // namespace gpupool::kubelet
