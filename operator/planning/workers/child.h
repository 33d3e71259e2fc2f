// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"

namespace gpupool::planning {

// A Job, StatefulSet or Service of a GpuJob.
struct Child {
  const api::ResourceType* type = nullptr;
  api::ObjectKey key;
  std::string uid;
  std::string lease_id;
  bool deleting = false;
  bool ended = false;  // a Job whose controller creates no more pods
};

// Returns the metadata of a child, as far as is_worker() reads it.
api::ObjectMeta metadata_of(const Child& child, const api::GpuJob& job);

using Pods = std::vector<std::shared_ptr<const api::Pod>>;

}  // namespace gpupool::planning
