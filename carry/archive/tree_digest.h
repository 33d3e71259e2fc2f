// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "failure/failure.h"

namespace gpupool::carry {

struct TreeSummary {
  std::int64_t files = 0;  // files and links
  std::string digest;      // "sha256:HEX"
};

// The digest of a tree: SHA-256 of the lines "PATH\0MODE\0CONTENT\n" of all files and links, sorted by their
// bytes. MODE is "x" of a program, else "-". CONTENT is the file's SHA-256 in hex, or the link's
// target. Directories do not count. Entries come in any order; of several with one path the last counts.
// Holds a few MiB; more goes to a file without a name. Not thread-safe.
class TreeDigest {
 public:
  // directory: where the file without a name is made. It must outlive the digest.
  explicit TreeDigest(int directory, std::size_t memory = std::size_t{2} << 20U)
      : directory_(directory), memory_(memory) {}

  // kTooLarge if all lines together have more than 256 MiB.
  Outcome<void> add(std::string_view path, bool program, std::string_view content);
  Outcome<void> add_directory(std::string_view path);
  // Nothing may be added after it.
  Outcome<TreeSummary> finish();

 private:
  Outcome<void> put(std::string_view path, char mode, std::string_view content);
  std::vector<std::string_view> sorted() const;
  Outcome<void> spill();

  int directory_;
  std::size_t memory_;
  std::string text_;                   // lines one after the other
  std::vector<std::uint32_t> begins_;  // of the lines in text_
  std::int64_t total_ = 0;             // bytes of all lines
  base::UniqueFd file_;
  std::vector<std::int64_t> runs_;  // where the sorted parts of the file end
};

}  // namespace gpupool::carry
