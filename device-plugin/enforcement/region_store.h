// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "allocation/grant.h"
#include "base/clock.h"
#include "base/result.h"

namespace gpupool::enforcement {

// The region files of this node's containers, in a folder on tmpfs: limiter/region/layout.h says what is in
// them. A container has its file mounted, so it keeps it when another takes its name. Thread-safe, also
// against another process.
class RegionStore {
 public:
  explicit RegionStore(std::string directory) : directory_(std::move(directory)) {}

  const std::string& directory() const { return directory_; }
  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  // Puts a new, empty region in the place of what has this name. kIo names the path.
  base::Result<void> renew(const allocation::RegionFile& region) const;
  // The same if there is no file of this name: after a loss of power, tmpfs is empty, and containers that
  // start again need theirs. Whatever is in a file that is there, it stays.
  base::Result<void> restore(const allocation::RegionFile& region) const;
  // Cuts off what a container has put behind the end of its region, which would fill the node's memory.
  // Returns whether there was something. Nothing happens to what is no file.
  bool cut(const std::string& name) const;
  // Removes files that are not in `keep` and were not changed since `before`; returns how many.
  int collect(const std::set<std::string>& keep, base::WallTime before) const;
  // Empty, or why this folder is a bad place for regions.
  std::string problem() const;

 private:
  const std::string directory_;
};

}  // namespace gpupool::enforcement
