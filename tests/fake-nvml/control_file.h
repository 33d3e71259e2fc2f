// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "tests/fake-nvml/world.h"

namespace gpupool::fake_nvml {

// The world as the control file says it, read again when the file changed. Not thread-safe.
class ControlFile {
 public:
  // The file that GPUPOOL_FAKE_NVML names; none: a machine without a driver.
  ControlFile();
  // The newest world that could be read. A file that cannot be parsed is named on stderr and leaves the world
  // as it was; a file that is gone is a driver that is gone.
  const World& read();
  const std::string& path() const { return path_; }

 private:
  struct Identity {
    std::uint64_t inode = 0;
    std::int64_t size = -1;
    std::int64_t modified_ns = 0;
    bool operator==(const Identity&) const = default;
  };

  std::string path_;
  Identity seen_;
  World world_;
};

}  // namespace gpupool::fake_nvml
