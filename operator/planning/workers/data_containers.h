// SPDX-License-Identifier: Apache-2.0
// What spec.source and spec.results add to a worker pod: the work directory, and the containers of
// gpupool-carry. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "api/v1alpha1/gpu_job.h"

namespace gpupool::planning {

inline constexpr char kSourceContainer[] = "gpupool-source";    // an init container
inline constexpr char kResultsContainer[] = "gpupool-results";  // runs beside the worker
inline constexpr char kWorkVolume[] = "gpupool-work";

// True for names of volumes that gpupool may add to a pod for source and results.
bool is_data_volume(std::string_view name);

// Number of containers that add_data_containers() adds.
std::int64_t count_data_containers(const api::GpuJobSpec& spec);

// Adds the work directory, the init container that fetches the source, the container that puts the results
// away, and the volumes that both need: Secrets, ConfigMaps and claims, mounted only there. The worker gets
// read-only items as read-only mounts, which no user can write. Does nothing without source and results.
//
// pod_spec: a PodSpec whose first container is the worker. report_bytes: the most that a container may leave
// in its termination message.
void add_data_containers(nlohmann::json& pod_spec, const api::GpuJob& job, const std::string& carry_image,
                         std::int64_t report_bytes);

}  // namespace gpupool::planning
