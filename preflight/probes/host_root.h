// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checks/unix_socket.h"

namespace gpupool::probes {

// The file system of the machine. In a container it is mounted below `root`, and symbolic links are followed
// as they are meant on the machine: an absolute one begins at `root` again. All paths are absolute paths of
// the machine. Nothing is kept between calls. Thread-safe.
class HostRoot {
 public:
  explicit HostRoot(std::string root);  // an absolute path

  // Where a path of the machine lies for us, whether it exists or not.
  std::string path(const std::string& on_machine) const;

  bool exists(const std::string& on_machine) const;
  // A file's content, at most 16 MiB; nothing if it cannot be read.
  std::optional<std::string> read(const std::string& on_machine) const;
  // The first line of a file without white space at its end; empty if there is none.
  std::string line(const std::string& on_machine) const;
  // Names in a directory, sorted; empty if it cannot be read.
  std::vector<std::string> names(const std::string& on_machine) const;
  checks::UnixSocket socket(const std::string& on_machine) const;

  bool is_own() const { return root_.empty(); }  // the machine's is the process's

 private:
  std::string root_;  // without a slash at its end
};

}  // namespace gpupool::probes
