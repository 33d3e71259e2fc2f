// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"

// Which objects belong to a job (docs/security.md). Anyone who may create pods or Jobs can give them
// gpupool's labels, so labels only tell where to look.
namespace gpupool::planning {

// True if the pod is a worker of the job: it is in the job's namespace, has the job's UID in its label, and
// is controlled, by UID, by a Job or StatefulSet that the job controls, by UID.
// For the running attempt, the status has the UID of that object. For other attempts, maker is the object
// with the kind and name of the pod's controller, in the pod's namespace; null if there is none. If it is
// gone, its name must be one that gpupool gave it, because no other object could have that name while it
// existed.
bool is_worker(const api::Pod& pod, const api::GpuJob& job, const api::ObjectMeta* maker);

// Returns the Job or StatefulSet that controls the pod; null if none does. Mirror pods have none, and a
// kubelet may give them any label (NodeRestriction).
const api::OwnerReference* maker_of(const api::Pod& pod);
// True if a Job controls the pod: the only worker of an attempt.
bool is_of_job(const api::Pod& pod);

// Returns the number of slices of a worker pod; 0 in an exclusive lease.
std::int64_t slices_of(const api::Pod& pod);

// True if the object is a child of the job.
bool is_child(const api::ObjectMeta& metadata, const api::GpuJob& job);

}  // namespace gpupool::planning
