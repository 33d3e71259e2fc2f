// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace gpupool::fake_nvml {

// Wakes when a file may have been written, replaced or removed.
class FileWait {
 public:
  explicit FileWait(const std::string& path);
  ~FileWait();
  FileWait(const FileWait&) = delete;
  FileWait& operator=(const FileWait&) = delete;

  // Returns early without reason at times.
  void wait(std::chrono::milliseconds limit);

 private:
  int inotify_;
};

}  // namespace gpupool::fake_nvml
