// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "api/v1alpha1/status_json.h"
#include "planning/job/plan_job.h"
#include "planning/nodes/membership.h"
#include "planning/nodes/node_marks.h"
#include "planning/nodes/pool_validation.h"
#include "planning/pool/draining_nodes.h"
#include "planning/pool/pool_status.h"
#include "tests/fuzz/property.h"
#include "tests/support/whole_queue.h"

using gpupool::fuzz::require;
namespace api = gpupool::api;
namespace base = gpupool::base;
namespace planning = gpupool::planning;

namespace {

constexpr base::WallTime kNow{std::chrono::seconds(1767323045)};

struct Cluster {
  std::vector<std::shared_ptr<const api::GpuPool>> pools;
  std::vector<std::shared_ptr<const api::Node>> nodes;
  std::vector<std::shared_ptr<const api::GpuNode>> reports;
  std::vector<std::shared_ptr<const api::GpuJob>> jobs;
  std::vector<std::shared_ptr<const api::Pod>> pods;
};

template <class K>
void add(std::vector<std::shared_ptr<const K>>& list, std::string_view json) {
  if (auto object = base::json::read<K>(json)) list.push_back(std::make_shared<const K>(*std::move(object)));
}

// What the definition of GpuJob bounds never comes.
void add_job(std::vector<std::shared_ptr<const api::GpuJob>>& jobs, std::string_view json) {
  constexpr std::int64_t kTenYears = 315'360'000;
  const auto bound = [](std::int64_t& number, std::int64_t least, std::int64_t most) {
    number = std::clamp(number, least, most);
  };
  auto job = base::json::read<api::GpuJob>(json);
  if (!job) return;
  auto& spec = job->spec;
  bound(spec.gpus, 1, 64'000);
  bound(spec.gpus_per_worker, 1, 64);
  bound(spec.priority, -1'000'000, 1'000'000);
  bound(spec.start_timeout_seconds, 1, 86'400);
  if (spec.active_deadline_seconds) bound(*spec.active_deadline_seconds, 1, kTenYears);
  if (spec.ttl_seconds_after_finished) bound(*spec.ttl_seconds_after_finished, 0, kTenYears);
  jobs.push_back(std::make_shared<const api::GpuJob>(*std::move(job)));
}

Cluster read(std::string_view input) {
  Cluster cluster;
  while (!input.empty()) {
    const auto line = gpupool::fuzz::take_line(input);
    if (line.empty()) continue;
    const auto json = std::string_view(line).substr(1);
    if (line[0] == 'p') add(cluster.pools, json);
    if (line[0] == 'n') add(cluster.nodes, json);
    if (line[0] == 'r') add(cluster.reports, json);
    if (line[0] == 'j') add_job(cluster.jobs, json);
    if (line[0] == 'w') add(cluster.pods, json);
  }
  return cluster;
}

using Verdicts = std::map<api::ObjectKey, planning::Verdict>;

const api::GpuNode* report_of(const Cluster& cluster, const api::Node& node) {
  for (const auto& report : cluster.reports) {
    if (report->metadata.name == node.metadata.name) return report.get();
  }
  return nullptr;
}

Verdicts plan_pool(const Cluster& cluster, const api::GpuPool& pool, const planning::Members& members) {
  std::vector<planning::PoolNode> whole;
  std::vector<planning::SharedNode> shared;
  for (const auto& node : members.nodes) {
    const auto* report = report_of(cluster, *node);
    whole.push_back(planning::describe_node(*node, pool.spec.worker_resource()));
    whole.back().object = node;
    if (pool.spec.sharing) shared.push_back(planning::describe_shared_node(*node, report, pool, {}));
    planning::wanted_marks(*node, &pool, report, false);
  }
  std::vector<const planning::PoolNode*> nodes;
  for (const auto& node : whole) nodes.push_back(&node);
  const planning::PoolJobs jobs{
      {}, static_cast<std::int64_t>(cluster.jobs.size()), planning::drains_of(nodes, {}).nodes};
  const auto status = pool.spec.sharing ? planning::make_pool_status(pool, members, shared, jobs, kNow)
                                        : planning::make_pool_status(pool, members, whole, jobs, kNow);
  require(gpupool::fuzz::is_json(api::status_update({}, status)), "a pool's status is JSON");
  const auto line = gpupool::test::line_of(cluster.jobs);
  return pool.spec.sharing ? planning::plan_slices(pool, shared, line)
                           : gpupool::test::plan_queue(pool, whole, line);
}

void plan(const Cluster& cluster, const api::GpuJob& job, const std::shared_ptr<const api::GpuPool>& pool,
          const Verdicts& verdicts) {
  const auto verdict = verdicts.find(job.metadata.key());
  planning::Observation seen{
      .job = job, .pool = pool, .pods = cluster.pods, .worker_container = "train", .now = kNow};
  seen.node = [&](const std::string& name) -> std::shared_ptr<const api::Node> {
    for (const auto& node : cluster.nodes) {
      if (node->metadata.name == name) return node;
    }
    return nullptr;
  };
  if (verdict != verdicts.end()) seen.verdict = verdict->second;
  for (const bool live : {false, true}) {
    seen.live = live;
    const auto step = planning::plan_job(seen);
    const auto* write = std::get_if<planning::step::WriteStatus>(&step);
    if (write == nullptr) continue;
    require(gpupool::fuzz::is_json(api::status_update({}, write->status)), "a job's status is JSON");
    require(write->status != job.status, "a write changes something");
  }
}

}  // namespace

// Objects as anybody may have written them, one a line behind a letter: p(ool), n(ode), r(eport), j(ob),
// w(orker's pod). Planning looks at all of them.
void fuzz_cluster(std::string_view input) {
  const auto cluster = read(input);
  const planning::Membership membership(cluster.pools);
  std::map<std::string, planning::Members> members;
  for (const auto& node : cluster.nodes) {
    const auto found = membership.of(*node);
    if (found.pool) members[found.pool->metadata.name].nodes.push_back(node);
    for (const auto& exclusion : found.excluded)
      members[exclusion.pool].excluded.push_back({node->metadata.name, exclusion.why});
  }
  Verdicts verdicts;
  for (const auto& pool : cluster.pools) {
    if (planning::validate_pool(*pool)) continue;
    verdicts = plan_pool(cluster, *pool, members[pool->metadata.name]);
  }
  for (const auto& job : cluster.jobs) {
    plan(cluster, *job, cluster.pools.empty() ? nullptr : cluster.pools.front(), verdicts);
  }
}
