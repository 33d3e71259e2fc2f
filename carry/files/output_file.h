// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "digest/sha256.h"
#include "failure/failure.h"
#include "files/directories.h"
#include "files/size_budget.h"

namespace gpupool::carry {

struct WrittenFile {
  std::int64_t bytes = 0;
  std::string sha256;  // 64 lower-case hex digits
};

// A file that is there whole or not at all: it is written under another name beside its own, and renamed at
// the end. What an earlier process has left of the same version is taken up. Not thread-safe.
class OutputFile {
 public:
  // path: below `root`; missing directories are made. version: what tells these bytes from others, such as an
  // ETag; an empty one always begins anew. `budget` must outlive the file.
  static Outcome<OutputFile> open(int root, std::string_view path, std::string_view version,
                                  SizeBudget& budget);
  // What was written and not committed stays for the next process if it has a version, else it is removed.
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;

  std::int64_t size() const { return size_; }  // bytes so far, those of an earlier process included
  Outcome<void> write(std::string_view bytes);
  Outcome<void> restart();  // drops all bytes so far
  // Removes what was written, that of an earlier process included. Then nothing more may be written.
  void discard();
  // Returns kMismatch, and drops the bytes, if `sha256` is not empty and is not theirs. Then nothing more may
  // be written.
  Outcome<WrittenFile> commit(const std::string& sha256, int mode = kFileMode);

 private:
  OutputFile(base::UniqueFd directory, std::string name, std::string part, base::UniqueFd fd, bool lasting,
             SizeBudget& budget);
  Outcome<void> take_up();

  base::UniqueFd directory_;
  std::string name_;
  std::string part_;
  base::UniqueFd fd_;
  bool lasting_;
  SizeBudget* budget_;
  std::int64_t size_ = 0;
  digest::Sha256 hash_;
};

}  // namespace gpupool::carry
