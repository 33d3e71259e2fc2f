#include "planning/waiting_line.h"

#include <algorithm>
#include <utility>

namespace gpupool::planning {
namespace {

Demand demand_of(const api::GpuJob& job) {
  return {api::worker_count(job.spec), api::gpus_of_each_worker(job.spec), job.spec.nodes,
          tolerations_of(job.spec.pod_template)};
}

}  // namespace

std::string Demand::text() const {
  return std::to_string(workers) + (workers == 1 ? " worker" : " workers") + " with " +
         std::to_string(gpus_per_worker) + (gpus_per_worker == 1 ? " GPU each" : " GPUs each");
}

bool WaitingLine::put(Job job, std::uint64_t arrival) {
  const auto& metadata = job->metadata;
  const Place place{-job->spec.priority, metadata.creation_timestamp.value_or(base::WallTime::max()), arrival,
                    metadata.key()};
  const auto known = where_.find(place.key);
  const bool same_spec = known != where_.end() && known->job()->metadata.uid == metadata.uid &&
                         known->job()->metadata.generation == metadata.generation;
  if (same_spec && known->place() == place) {
    known->entry_->second = std::move(job);
    return false;
  }
  auto demand = same_spec ? known->demand() : demand_of(*job);
  remove(place.key);
  const auto group = groups_.try_emplace(std::move(demand)).first;
  where_.insert(Where(group, group->second.emplace(place, std::move(job)).first));
  return true;
}

void WaitingLine::remove(const api::ObjectKey& key) {
  const auto known = where_.find(key);
  if (known == where_.end()) return;
  const auto [group, entry] = std::pair(known->group_, known->entry_);
  where_.erase(known);
  group->second.erase(entry);
  if (group->second.empty()) groups_.erase(group);
}

const WaitingLine::Where* WaitingLine::find(const api::ObjectKey& key) const {
  const auto known = where_.find(key);
  return known == where_.end() ? nullptr : &*known;
}

std::vector<WaitingLine::Job> WaitingLine::in_order() const {
  std::vector<const Jobs::value_type*> all;
  all.reserve(size());
  for (const auto& [demand, jobs] : groups_) {
    for (const auto& entry : jobs) all.push_back(&entry);
  }
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  std::vector<Job> jobs;
  jobs.reserve(all.size());
  for (const auto* entry : all) jobs.push_back(entry->second);
  return jobs;
}

}  // namespace gpupool::planning
