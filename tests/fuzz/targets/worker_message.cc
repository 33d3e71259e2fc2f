// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "planning/workers/assess_workers.h"
#include "planning/workers/pod_end.h"
#include "planning/workers/worker_result.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace api = gpupool::api;
namespace planning = gpupool::planning;

namespace {

void check_pod(const api::Pod& pod) {
  const auto view = planning::assess_worker(pod, "train", 0);
  const bool unlucky =
      view.state == planning::WorkerState::kCrashed || view.state == planning::WorkerState::kLost;
  if (unlucky) require(!view.message.empty(), "what went wrong is told");
  const auto views = planning::assess_workers({std::make_shared<const api::Pod>(pod)}, "", 3, "train");
  require(views.size() == 3, "every rank has a view");
  if (planning::has_result(pod))
    require(!pod.status.container_statuses.empty(), "a result is of a container");
  planning::has_ended(pod);
  planning::is_between_runs(pod);
}

}  // namespace

// A pod as the API server sends it, or only the termination message of its worker.
void fuzz_worker_message(std::string_view input) {
  if (const auto pod = gpupool::base::json::read<api::Pod>(input)) check_pod(*pod);
  const std::string message(input);
  const auto result = planning::parse_worker_result(message);
  if (result) {
    require(result->version >= 1 && !result->outcome.empty(), "a result says how it ended");
    require(gpupool::fuzz::is_json(message), "a result is JSON");
  }
  api::Pod pod;
  pod.metadata.name = "job-1-2";
  pod.status.phase = "Running";
  auto& worker = pod.status.container_statuses.emplace_back();
  worker.name = "train";
  worker.state.terminated.emplace();
  worker.state.terminated->exit_code = static_cast<std::int64_t>(message.size() % 256);
  worker.state.terminated->message = message;
  check_pod(pod);
}
