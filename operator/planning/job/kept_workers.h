// SPDX-License-Identifier: Apache-2.0
// What stays in the cluster after an attempt of one worker, for its logs: the Job and its pod
// (docs/protocol.md#what-stays). Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// Number of failed attempts of a job whose Jobs stay.
inline constexpr std::size_t kKeptAttempts = 3;

// True if the pod stays: its worker ran and ended by itself, and nobody has deleted the pod or the GpuJob.
bool stays(const Observation& seen, const api::Pod& pod);
// True if the Job stays: all its pods stay, or it has ended and they are not workers any more.
bool stays(const Observation& seen, const Child& child);
// Jobs of failed attempts beyond the last kKeptAttempts, other than that of the lease value `keep`.
std::vector<Child> oldest_kept(const Observation& seen, const std::string& keep);
// Releases pods that stay, of lease values that the job no longer has, when the controllers of their Jobs
// have counted them, so that nothing replaces them. Nothing if there is none.
std::optional<Step> release_kept(const Observation& seen);

}  // namespace gpupool::planning
