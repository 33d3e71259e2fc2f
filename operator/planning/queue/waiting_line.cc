// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/waiting_line.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gpupool::planning {
namespace {

Demand demand_of(const api::GpuJob& job, const std::string& gpu_resource,
                 const std::optional<api::Near>& near) {
  return {api::worker_count(job.spec),
          api::gpus_of_each_worker(job.spec),
          job.spec.nodes,
          needs_of(job.spec, gpu_resource),
          {},
          near_of(job.spec, near),
          {}};
}

}  // namespace

std::string Demand::text() const {
  return std::to_string(workers) + (workers == 1 ? " worker" : " workers") + " with " +
         std::to_string(gpus_per_worker) + (gpus_per_worker == 1 ? " GPU" : " GPUs") +
         (workers == 1 ? "" : " each") + near_text(near);
}

QueuePosition WaitingLine::position_of(const api::GpuJob& job, std::uint64_t arrival) {
  return {-job.spec.priority, job.metadata.creation_timestamp.value_or(base::WallTime::max()), arrival,
          job.metadata.key()};
}

// Keeps reserving_ as the job's status says.
void WaitingLine::note_reserving(const api::GpuJob& job) {
  const auto& progress = job.status.progress;
  if (progress && progress->queue && progress->queue->reserved_since) {
    reserving_.insert(job.metadata.key());
  } else if (!reserving_.empty()) {
    reserving_.erase(job.metadata.key());
  }
}

bool WaitingLine::put(Job job, std::uint64_t arrival, std::vector<std::string> avoided, Turn turn) {
  const auto& metadata = job->metadata;
  const auto position = position_of(*job, arrival);
  const auto known = entries_.find(position.key);
  const bool same_spec = known != entries_.end() && known->job()->metadata.uid == metadata.uid &&
                         known->job()->metadata.generation == metadata.generation;
  if (same_spec && known->position() == position && known->demand().avoided == avoided &&
      known->demand().turn == turn) {
    note_reserving(*job);
    known->in_group_->second = std::move(job);
    return false;
  }
  auto demand = same_spec ? known->demand() : demand_of(*job, gpu_resource_, near_);
  demand.avoided = std::move(avoided);
  demand.turn = std::move(turn);
  remove(position.key);
  note_reserving(*job);
  const auto [group, is_new] = groups_.try_emplace(std::move(demand));
  if (is_new) group->second.id = take_group_id();
  entries_.insert(Entry(group, group->second.jobs.emplace(position, std::move(job)).first));
  return true;
}

void WaitingLine::remove(const api::ObjectKey& key) {
  const auto known = entries_.find(key);
  if (known == entries_.end()) return;
  reserving_.erase(key);
  const auto [group, in_group] = std::pair(known->group_, known->in_group_);
  entries_.erase(known);
  group->second.jobs.erase(in_group);
  if (!group->second.jobs.empty()) return;
  free_group_ids_.push_back(group->second.id);
  groups_.erase(group);
}

std::size_t WaitingLine::take_group_id() {
  if (free_group_ids_.empty()) return group_ids_++;
  const auto id = free_group_ids_.back();
  free_group_ids_.pop_back();
  return id;
}

const WaitingLine::Entry* WaitingLine::find(const api::ObjectKey& key) const {
  const auto known = entries_.find(key);
  return known == entries_.end() ? nullptr : &*known;
}

std::vector<WaitingLine::Job> WaitingLine::in_order() const {
  std::vector<const Jobs::value_type*> all;
  all.reserve(size());
  for (const auto& [demand, group] : groups_) {
    for (const auto& entry : group.jobs) all.push_back(&entry);
  }
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  std::vector<Job> jobs;
  jobs.reserve(all.size());
  for (const auto* entry : all) jobs.push_back(entry->second);
  return jobs;
}

std::size_t WaitingLine::count_before(const QueuePosition& position) const {
  std::size_t count = 0;
  for (const auto& [demand, group] : groups_)
    count += static_cast<std::size_t>(std::distance(group.jobs.begin(), group.jobs.lower_bound(position)));
  return count;
}

WaitingLine WaitingLine::copy_before(const QueuePosition& position) const {
  WaitingLine copy(gpu_resource_, near_);
  for (const auto& [demand, whole] : groups_) {
    const auto end = whole.jobs.lower_bound(position);
    if (end == whole.jobs.begin()) continue;
    const auto group =
        copy.groups_.try_emplace(demand, Group{{whole.jobs.begin(), end}, copy.take_group_id()}).first;
    for (auto job = group->second.jobs.begin(); job != group->second.jobs.end(); ++job)
      copy.entries_.insert(Entry(group, job));
  }
  return copy;
}

}  // namespace gpupool::planning
