#pragma once

#include <cstdint>
#include <string>

namespace gpupool::kubelet {

// Which socket a path names at this moment. Inode numbers are used again soon, so the time of its making
// belongs to it, which stays the time of its last modification. That of its last change would not do: it
// moves when the socket is removed, before the path is gone.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t made_ns = 0;
  bool exists() const { return inode != 0; }
  bool operator==(const FileIdentity&) const = default;
};

// Does not follow a symbolic link. Nothing there, or no way to look: an identity that does not exist.
FileIdentity identify(const std::string& path);
bool is_socket(const std::string& path);

}  // namespace gpupool::kubelet
