// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "objects/new_job.h"
#include "submit/job_data.h"

namespace gpupool::submit {

// A job as the flags of `run` ask for it. Empty: not given.
struct Wanted {
  std::string name;
  std::string ns;
  std::string pool;
  std::string image;
  std::optional<std::int64_t> gpus;
  std::optional<std::int64_t> gpus_per_worker;
  std::optional<std::int64_t> slices;  // of each worker
  std::string slice_memory;
  std::optional<std::int64_t> slice_cores;
  std::optional<std::int64_t> priority;
  std::optional<std::int64_t> backoff_limit;
  std::optional<std::int64_t> deadline_seconds;
  std::string cpu;
  std::string memory;
  std::vector<std::string> env;     // NAME=VALUE
  std::vector<std::string> labels;  // KEY=VALUE
  std::vector<std::string> claims;  // CLAIM:/DIRECTORY
  std::vector<std::string> command;
  JobData data;
};

// The GpuJob as JSON. kInvalidArgument, with the flag that is wrong or missing.
base::Result<std::string> manifest_of(const Wanted& wanted, const std::optional<objects::Script>& script);

// The GpuJob of a file with what the flags say instead: name, namespace, pool, gpus, gpusPerWorker, priority,
// labels, backoffLimit and deadline. kInvalidArgument for flags about its pod.
base::Result<std::string> changed_manifest(const std::string& manifest, const Wanted& wanted);

}  // namespace gpupool::submit
