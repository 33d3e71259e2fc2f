// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/unique_fd.h"
#include "failure/failure.h"

namespace gpupool::carry::csv {

// The file that is read, several times. Not thread-safe.
class SourceFile {
 public:
  // path: below the directory `root`. kInvalid: no such file, not a plain file, or a link in the path.
  static Outcome<SourceFile> open(int root, const std::string& path);
  int fd() const { return fd_.get(); }
  const std::string& name() const { return name_; }  // the path, for messages
  // Returns kMismatch if size or time of the last change differ from those at open().
  Outcome<void> check_unchanged() const;

 private:
  SourceFile(base::UniqueFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}
  base::UniqueFd fd_;
  std::string name_;
  std::int64_t size_ = 0;
  std::int64_t changed_ = 0;  // nanoseconds
};

}  // namespace gpupool::carry::csv
