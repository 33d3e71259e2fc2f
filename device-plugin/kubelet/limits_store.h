// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "allocation/grant.h"
#include "base/clock.h"
#include "base/result.h"

namespace gpupool::kubelet {

// The limits files of this node's containers. Most are named after their content, so writing one again is
// harmless at any time; those of enforced containers are named after their devices. Thread-safe, also against
// another process.
class LimitsStore {
 public:
  explicit LimitsStore(std::string directory) : directory_(std::move(directory)) {}

  const std::string& directory() const { return directory_; }
  // Afterwards the file is there with exactly this content and a new modification time; readers see all of it
  // or nothing. kIo names the path.
  base::Result<void> put(const allocation::LimitsFile& file) const;
  bool has(const std::string& name) const;
  // Nothing happens if there is no such file.
  void remove(const std::string& name) const;
  // Removes files that are not in `keep` and were not put since `before`; returns how many. A container that
  // has one open or mounted keeps it.
  int collect(const std::set<std::string>& keep, base::WallTime before) const;

 private:
  const std::string directory_;
};

}  // namespace gpupool::kubelet
