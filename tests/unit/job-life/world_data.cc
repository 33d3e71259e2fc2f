// SPDX-License-Identifier: Apache-2.0
// gpupool-carry in the world: it fetches the source before a worker starts, and saves its results at its end.
#include "base/rfc3339.h"
#include "planning/workers/assess_workers.h"
#include "planning/workers/data_containers.h"
#include "tests/unit/job-life/world.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::test {
namespace {

api::ContainerStatus waiting(const char* name) {
  api::ContainerStatus status;
  status.name = name;
  status.state.waiting = api::ContainerWaiting{"PodInitializing", ""};
  return status;
}

void end(api::ContainerStatus& status, std::int64_t exit_code, const std::string& report) {
  status.state = {};
  status.state.terminated =
      api::ContainerTerminated{exit_code, 0, exit_code == 0 ? "Completed" : "Error", report};
}

}  // namespace

void World::add_data_containers(api::Pod& pod) const {
  if (job.spec.source) pod.status.init_container_statuses.push_back(waiting(planning::kSourceContainer));
  if (job.spec.results) pod.status.container_statuses.push_back(waiting(planning::kResultsContainer));
}

std::string World::told(const api::Pod& pod) const {
  const auto attempt = pod.metadata.annotation(kAttempt);
  auto more = more_result + R"(,"attempt":)" + attempt;
  if (job.spec.results || job.spec.checkpoint)
    more += R"(,"finishedAt":")" + base::to_rfc3339_micro(now) + '"';
  const auto text = saved(std::stoll(attempt), planning::rank_of(pod));
  if (text.empty()) return more;
  return more + R"(,"report":)" + base::json::quote(text) + R"(,"reportedAt":")" +
         base::to_rfc3339_micro(now - std::chrono::milliseconds(5001)) + '"';
}

bool World::fetch(api::Pod& pod) {
  auto& statuses = pod.status.init_container_statuses;
  if (statuses.empty() ||
      (statuses.front().state.terminated && statuses.front().state.terminated->exit_code == 0))
    return false;
  auto& source = statuses.front();
  if (!source.state.running) {
    if (source.last_state.terminated) return true;  // it waits before it starts again
    source.state = {};
    source.state.running.emplace();
    return true;
  }
  const auto report = source_report(planning::rank_of(pod));
  const bool failed = report == kOutOfMemory || report.find("reason") != std::string::npos;
  end(source, failed ? 1 : 0, report);
  if (report == kOutOfMemory) source.state.terminated = api::ContainerTerminated{137, 0, "OOMKilled", ""};
  if (!failed) return true;
  if (pod.metadata.owner_references.at(0).kind == "Job") {
    pod.status.phase = "Failed";
  } else {
    source.last_state = source.state;
    source.state = {};
    source.state.waiting = api::ContainerWaiting{"CrashLoopBackOff", ""};
  }
  return true;
}

bool World::save(api::Pod& pod) {
  auto& statuses = pod.status.container_statuses;
  if (statuses.size() < 2 || statuses.at(1).state.terminated) return false;
  if (!pod.metadata.deleting() && results_stuck) return false;
  end(statuses.at(1), 0, results_report);
  return true;
}

}  // namespace gpupool::test
