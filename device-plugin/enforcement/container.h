// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "settings/settings.h"

namespace gpupool::enforcement {

// A container whose limits are enforced, as the kubelet and the table of slices know it.
struct Container {
  struct Device {
    std::string uuid;
    std::int64_t limit_mib = 0;  // 0: no limit
    settings::Enforcement enforcement;
    bool operator==(const Device&) const = default;
  };
  std::string ns;
  std::string pod;
  std::string pod_uid;  // empty: the kubelet does not tell
  std::string name;
  std::string region;           // the name of its region file
  std::vector<Device> devices;  // in the order of its limits file; empty: of slices that are no more
  bool operator==(const Container&) const = default;
};

}  // namespace gpupool::enforcement
