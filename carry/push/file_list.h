// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "failure/failure.h"

namespace gpupool::carry {

// Tells one version of a file from another.
struct FileVersion {
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;  // since the epoch
  std::uint64_t inode = 0;
  bool operator==(const FileVersion&) const = default;
};

struct ListedFile {
  std::string path;  // below the root
  FileVersion version;
};

struct FileList {
  std::map<std::string, ListedFile> files;  // by path below the directory; a file alone by its own name
  std::vector<std::string> skipped;         // links, pipes and others that are no regular files
};

// Lists the regular files of the directory `path` below `root`, or the file alone. Links are not followed.
// Files that go meanwhile are left out. kNotFound if there is nothing.
Outcome<FileList> list_files(const std::string& root, const std::string& path);

}  // namespace gpupool::carry
