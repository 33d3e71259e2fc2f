// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/child.h"

namespace gpupool::planning {

api::ObjectMeta metadata_of(const Child& child, const api::GpuJob& job) {
  api::ObjectMeta metadata;
  metadata.name = child.key.name;
  metadata.ns = child.key.ns;
  metadata.uid = child.uid;
  metadata.owner_references = {
      {std::string(api::GpuJob::kType.kind), job.metadata.name, job.metadata.uid, true}};
  return metadata;
}

}  // namespace gpupool::planning
