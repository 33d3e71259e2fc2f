// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/node_report.h"

namespace gpupool::test {

// GPUs of 16000 MiB with UUIDs GPU-0, GPU-1, ..., each in `split` slices of the resource gpupool.dev/vgpu,
// healthy and free. With split 1 they are whole GPUs.
report::Facts facts(std::int64_t gpus, std::int64_t split);

inventory::Gpu gpu(const std::string& uuid, std::int64_t index);
slices::Slice slice(const std::string& id, const std::string& gpu, std::int64_t memory_mib,
                    std::int64_t cores);
slices::Resource resource(const std::string& name);
health::GpuHealth unhealthy(const std::string& reason, const std::string& detail);

// GPU-0, GPU-1, ... at these percentages, with 4000 MiB in use, 61 degrees and 250.5 W, read at the start of
// ManualClock. Each was busy for an hour of two.
telemetry::Telemetry telemetry(const std::vector<std::int64_t>& percentages);

// A pod in namespace "lab" with one container that holds these slices, written as "<GPU index>::<ordinal>".
kubelet::Holding holding(const std::string& pod, const std::vector<std::string>& slices);

}  // namespace gpupool::test
