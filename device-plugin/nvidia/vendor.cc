// SPDX-License-Identifier: Apache-2.0
#include "nvidia/vendor.h"

#include <utility>

#include "nvidia/container_access.h"
#include "nvidia/xid_catalogue.h"

namespace gpupool::nvidia {

vendor::Vendor make_vendor(NvmlPaths paths, const base::Log& log) {
  return {.source = make_nvml_source(std::move(paths), log),
          .errors = xid_catalogue(),
          .access = make_container_access(),
          .names = {.whole = "nvidia.com/gpu", .partition_prefix = "nvidia.com/mig-"}};
}

}  // namespace gpupool::nvidia
