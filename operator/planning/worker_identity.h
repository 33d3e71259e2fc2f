#pragma once

#include <string>

#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"

// Who is believed (docs/security.md). Everybody who may make pods or Jobs somewhere can give them our labels,
// so labels only say where to look.
namespace gpupool::planning {

// True if the pod is a worker of the job: in the job's namespace, with the job's UID in its label, and
// controlled, by UID, by a Job or StatefulSet that the job controls, by UID.
// Of the attempt that runs, that is the one whose UID the job's status has. Of another one it is looked up:
// maker is the object that has the kind and name of the pod's controller, in the pod's namespace; null if
// there is none. Of a maker that is gone the name must be the one that gpupool gave it: while it was there,
// nobody else's object could have that name.
bool is_worker(const api::Pod& pod, const api::GpuJob& job, const api::ObjectMeta* maker);

// The Job or StatefulSet that controls the pod; null if none does. Mirror pods have none, and a kubelet may
// give them any label (NodeRestriction).
const api::OwnerReference* maker_of(const api::Pod& pod);

// True if the object is a child of the job.
bool is_child(const api::ObjectMeta& metadata, const api::GpuJob& job);

}  // namespace gpupool::planning
