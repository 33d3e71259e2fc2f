// SPDX-License-Identifier: Apache-2.0
#include "probes/processes.h"

#include <algorithm>
#include <filesystem>

namespace gpupool::probes {
namespace {

std::vector<std::string> process_ids(const HostRoot& root) {
  auto names = root.names("/proc");
  std::erase_if(names, [](const std::string& name) {
    return !std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
  });
  return names;
}

}  // namespace

std::set<std::string> process_names(const HostRoot& root) {
  std::set<std::string> names;
  for (const std::string& id : process_ids(root)) names.insert(root.line("/proc/" + id + "/comm"));
  return names;
}

std::string holder_of_socket(const HostRoot& root, std::uint64_t inode) {
  const std::string wanted = "socket:[" + std::to_string(inode) + "]";
  for (const std::string& id : process_ids(root)) {
    const std::string files = "/proc/" + id + "/fd";
    for (const std::string& file : root.names(files)) {
      std::error_code none;
      if (std::filesystem::read_symlink(root.path(files) + "/" + file, none) == wanted) {
        return root.line("/proc/" + id + "/comm");
      }
    }
  }
  return {};
}

}  // namespace gpupool::probes
