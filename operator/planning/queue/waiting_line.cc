// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/waiting_line.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gpupool::planning {
namespace {

Demand demand_of(const api::GpuJob& job, const std::string& gpu_resource,
                 const std::optional<api::Near>& near, const std::optional<PriceList>& prices) {
  Demand demand{api::worker_count(job.spec),
                api::gpus_of_each_worker(job.spec),
                job.spec.nodes,
                needs_of(job.spec, gpu_resource),
                {},
                near_of(job.spec, near),
                {}};
  const auto& most = job.spec.max_price_per_gpu_hour;
  if (prices && most) demand.needs.price = price_limit(*prices, *most);
  return demand;
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
  auto demand = same_spec ? known->demand() : demand_of(*job, gpu_resource_, near_, prices_);
  demand.avoided = std::move(avoided);
  demand.turn = std::move(turn);
  remove(position.key);
  note_reserving(*job);
  const auto [group, is_new] = groups_.try_emplace(std::move(demand));
  const auto in_group = group->second.jobs.emplace(position, std::move(job)).first;
  if (is_new) {
    begin_group(group);
  } else if (in_group == group->second.jobs.begin()) {
    note_first(group);
  }
  entries_.insert(Entry(group, in_group));
  return true;
}

void WaitingLine::remove(const api::ObjectKey& key) {
  const auto known = entries_.find(key);
  if (known == entries_.end()) return;
  reserving_.erase(key);
  const auto [group, in_group] = std::pair(known->group_, known->in_group_);
  entries_.erase(known);
  const bool was_first = in_group == group->second.jobs.begin();
  group->second.jobs.erase(in_group);
  if (group->second.jobs.empty()) {
    end_group(group);
    groups_.erase(group);
  } else if (was_first) {
    note_first(group);
  }
}

std::size_t WaitingLine::Ids::take() {
  if (free_.empty()) return end_++;
  const auto id = free_.back();
  free_.pop_back();
  return id;
}

// The group has a job.
void WaitingLine::begin_group(Groups::iterator group) {
  auto& [demand, begun] = *group;
  begun.id = group_ids_.take();
  if (demand.turn.tenant.empty()) return;
  auto of_any_turn = demand;
  of_any_turn.turn = {};
  const auto [shape, is_new] = shapes_.try_emplace(std::move(of_any_turn));
  if (is_new) shape->second.id = shape_ids_.take();
  ++shape->second.groups;
  begun.shape = shape->second.id;
  auto& lane = lanes_[demand.turn.tenant];
  begun.in_lane = lane.size();
  lane.push_back({&demand, &begun, {}, {}, demand.turn.priority, demand.turn.bound_seconds});
  note_first(group);
}

void WaitingLine::end_group(Groups::iterator group) {
  const auto& [demand, ended] = *group;
  group_ids_.give_back(ended.id);
  if (demand.turn.tenant.empty()) return;
  auto of_any_turn = demand;
  of_any_turn.turn = {};
  const auto shape = shapes_.find(of_any_turn);
  if (--shape->second.groups == 0) {
    shape_ids_.give_back(shape->second.id);
    shapes_.erase(shape);
  }
  const auto lane = lanes_.find(demand.turn.tenant);
  auto& groups = lane->second;
  if (ended.in_lane + 1 < groups.size()) {
    groups[ended.in_lane] = groups.back();
    groups_.find(*groups.back().demand)->second.in_lane = ended.in_lane;
  }
  groups.pop_back();
  if (groups.empty()) lanes_.erase(lane);
}

void WaitingLine::note_first(Groups::iterator group) {
  const auto& [demand, noted] = *group;
  if (demand.turn.tenant.empty()) return;
  auto& in_lane = lanes_.find(demand.turn.tenant)->second[noted.in_lane];
  in_lane.first = noted.jobs.begin();
  in_lane.created = in_lane.first->first.created;
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
  auto copy = copy_empty();
  for (const auto& [demand, whole] : groups_) {
    const auto end = whole.jobs.lower_bound(position);
    if (end == whole.jobs.begin()) continue;
    const auto group = copy.groups_.try_emplace(demand, Group{{whole.jobs.begin(), end}}).first;
    copy.begin_group(group);
    for (auto job = group->second.jobs.begin(); job != group->second.jobs.end(); ++job)
      copy.entries_.insert(Entry(group, job));
  }
  return copy;
}

}  // namespace gpupool::planning
