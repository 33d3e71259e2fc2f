// SPDX-License-Identifier: Apache-2.0
#include "api/v1alpha1/gpu_job.h"
#include "planning/job/job_validation.h"
#include "planning/nodes/node_needs.h"
#include "planning/workers/manifests.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace api = gpupool::api;
namespace planning = gpupool::planning;

// A GpuJob, whose template goes into what the operator creates.
void fuzz_job_template(std::string_view input) {
  auto job = gpupool::base::json::read<api::GpuJob>(input);
  if (!job) return;
  const auto needs = planning::needs_of(job->spec, "nvidia.com/gpu");
  planning::tolerates(needs.tolerations, {{"key", "value", "NoSchedule"}});
  planning::unmet_need({}, needs);
  if (const auto problem = planning::validate_job(*job, nullptr)) {
    return require(!problem->reason.empty() && !problem->message.empty(), "a problem is explained");
  }
  job->metadata.uid = "uid";
  job->status.lease.emplace();
  job->status.lease->id = "uid.1";
  const auto made = planning::make_manifests(*job, {{"launcher:1", "carry:1"}, "nvidia.com/gpu"});
  require(gpupool::fuzz::is_json(made.workload), "a workload is JSON");
  require(planning::is_gang(job->spec) == !made.service.empty(), "a gang has a service");
  if (!made.service.empty()) require(gpupool::fuzz::is_json(made.service), "a service is JSON");
  if (!made.rehearsal.empty()) require(gpupool::fuzz::is_json(made.rehearsal), "a rehearsal is JSON");
  require(!planning::worker_container(job->spec).empty(), "the worker has a name");
}
