// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/workload/declare.h"

#include <algorithm>
#include <string>

#include "bench/fair/workload/random.h"

namespace gpupool::bench::fair {
namespace {

constexpr std::int64_t kWithBound = 60;  // percent, as the others
constexpr std::int64_t kPreemptible = 60;
constexpr std::int64_t kWithCheckpoint = 70;
constexpr std::int64_t kGuaranteed = 60;

void declare_job(Job& job, Random& random) {
  const auto factor = 100 + random.below(301);
  if (random.chance(kWithBound)) job.bound = std::max<Seconds>(1, job.seconds * factor / 100);
  const auto interval = 600 + random.below(2401);
  job.preemptible = random.chance(kPreemptible);
  if (job.preemptible && random.chance(kWithCheckpoint)) job.checkpoint = interval;
}

}  // namespace

base::Result<Workload> declare(Workload workload, std::uint64_t seed) {
  if (workload.jobs.empty()) return base::fail(base::ErrorCode::kInvalidArgument, "there are no jobs");
  std::ranges::stable_sort(workload.jobs, {}, &Job::arrival);
  Random random(seed);
  for (auto& job : workload.jobs) {
    if (job.gpus > workload.gpus) {
      return base::fail(base::ErrorCode::kInvalidArgument, "a job of " + workload.tenants[job.tenant].name +
                                                               " needs " + std::to_string(job.gpus) +
                                                               " GPUs, and the cluster has " +
                                                               std::to_string(workload.gpus));
    }
    declare_job(job, random);
  }
  const auto tenants = static_cast<std::int64_t>(workload.tenants.size());
  for (auto& tenant : workload.tenants) tenant.guaranteed = workload.gpus * kGuaranteed / 100 / tenants;
  return workload;
}

}  // namespace gpupool::bench::fair
