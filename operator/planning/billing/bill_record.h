// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/v1alpha1/gpu_job.h"

namespace gpupool::planning {

// The GpuBillRecord of the segments in the job's status, as JSON. Its name is of the job's UID and the last
// segment's number, so the same segments have one record. REQUIRES: the job has segments.
std::string bill_record(const api::GpuJob& job);

// True if a status with the second bill no longer shows segments of the first one. Null: no bill.
bool drops_segments(const api::JobBill* before, const api::JobBill* after);

}  // namespace gpupool::planning
