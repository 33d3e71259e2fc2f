// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace gpupool::base {

// Which file a path names at this moment: two identities differ if the file was removed and made anew, even
// if the new file has the inode number of the old one. Hence the time of the last modification, which for a
// socket is the time of its creation. The time of the last change (ctime) would not do: it moves while the
// file is being removed.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t modified_ns = 0;  // since 1970
  bool exists() const { return inode != 0; }
  bool operator==(const FileIdentity&) const = default;
};

// Whether a symbolic link at the end of the path stands for itself or for the file it leads to.
enum class Links { kAsFiles, kFollowed };

// An identity that does not exist where nothing is, or nothing can be seen.
FileIdentity identify(const std::string& path, Links links = Links::kAsFiles);
// Does not follow a symbolic link.
bool is_socket(const std::string& path);

}  // namespace gpupool::base
