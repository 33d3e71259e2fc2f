// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "probes/host_root.h"

namespace gpupool::test {

// A machine's file tree in a folder of its own, removed at the end.
class TemporaryRoot {
 public:
  TemporaryRoot();
  ~TemporaryRoot();
  TemporaryRoot(const TemporaryRoot&) = delete;
  TemporaryRoot& operator=(const TemporaryRoot&) = delete;

  void write(const std::string& path, const std::string& text) const;
  void link(const std::string& path, const std::string& target) const;
  const std::string& folder() const { return folder_; }
  probes::HostRoot root() const { return probes::HostRoot(folder_); }

 private:
  std::string folder_;
};

}  // namespace gpupool::test
