// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/turn_places.h"

#include <chrono>
#include <unordered_set>
#include <utility>

#include "planning/tenants/gpu_amount.h"

namespace gpupool::planning {
namespace {

constexpr auto kOften = std::chrono::seconds(60);

bool differs(const std::optional<base::WallTime>& told, const std::optional<base::WallTime>& found,
             base::WallTime now) {
  if (told.has_value() != found.has_value()) return true;
  if (!told) return false;
  constexpr int kPart = 5;  // of the time that is left
  const auto by = *told < *found ? *found - *told : *told - *found;
  return by > kOften && by * kPart > *told - now;
}

// Slices are counted when they are chosen: here each worker counts as a GPU.
MilliGpus amount_for_order(const Demand& demand, bool of_slices) {
  return of_slices ? demand.workers * kMilli : least_amount(demand);
}

// What the status of the job says.
const api::JobQueueStatus* turn_in(const api::GpuJob& job) {
  return job.status.progress && job.status.progress->queue ? &*job.status.progress->queue : nullptr;
}

std::optional<base::WallTime> start_in(const api::JobQueueStatus& turn) {
  return turn.basis == api::estimate_basis::kHistory ? turn.estimated_start : std::nullopt;
}

}  // namespace

std::int64_t told_place(std::size_t place) {
  constexpr std::size_t kExact = 10;
  if (place <= kExact) return static_cast<std::int64_t>(place);
  for (const std::size_t step : {std::size_t{20}, std::size_t{50}, kPlacesTold}) {
    if (place <= step) return static_cast<std::int64_t>(step);
  }
  return 0;
}

std::vector<const WaitingLine::Entry*> places_of(const LineToPlace& queue, std::size_t most) {
  std::vector<const WaitingLine::Entry*> found;
  std::unordered_set<const WaitingLine::Entry*> seen;
  TurnOrder order(queue.spec, queue.line, queue.shares, queue.now, queue.of_slices);
  const auto* first = queue.first ? queue.line.find(*queue.first) : nullptr;
  const auto add = [&](const WaitingLine::Entry& entry) {
    if (!queue.starts(entry.position().key) && seen.insert(&entry).second) found.push_back(&entry);
  };
  // As TurnPlan: only jobs within a guarantee pass the first in line.
  const auto add_first = [&] {
    const auto* entry = std::exchange(first, nullptr);
    if (entry == nullptr || seen.contains(entry)) return;
    add(*entry);
    order.add_held(entry->demand().turn.tenant, amount_for_order(entry->demand(), queue.of_slices));
  };
  while (found.size() < most) {
    const auto candidate = order.next();
    if (!candidate) break;
    if (!candidate->within_guarantee) add_first();
    const auto& entry = *queue.line.find((*candidate->job)->metadata.key());
    if (queue.is_out(entry) || order.share(candidate->demand->turn.tenant).tenant.refused) {
      order.refuse();
    } else if (seen.contains(&entry)) {
      order.skip();
    } else {
      add(entry);
      order.grant(amount_for_order(*candidate->demand, queue.of_slices));
    }
  }
  if (found.size() < most) add_first();
  return found;
}

std::vector<api::ObjectKey> ToldPlaces::update(const std::vector<Expected>& found, const WaitingLine& line,
                                               base::WallTime now) {
  std::map<api::ObjectKey, Told> next;
  std::vector<api::ObjectKey> changed;
  const auto before = [&](const api::ObjectKey& key) -> Told {
    if (const auto known = told_.find(key); known != told_.end()) return known->second;
    const auto* entry = known_ ? nullptr : line.find(key);
    const auto* turn = entry == nullptr ? nullptr : turn_in(*entry->job());
    return turn == nullptr ? Told() : Told{turn->place, start_in(*turn), std::nullopt};
  };
  const auto tell = [&](const api::ObjectKey& key, const Told& told_now) {
    auto told = before(key);
    if (change(told, told_now, now)) changed.push_back(key);
    if (told.place > 0 || told.at) next.emplace(key, told);
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto place = told_place(i + 1);
    // One that has just left the last step keeps it: it may come back.
    const bool keeps = place == 0 && before(found[i].job).place > 0;
    if (place == 0 && !keeps) continue;
    tell(found[i].job, {keeps ? before(found[i].job).place : place, found[i].start, std::nullopt});
  }
  for (const auto& [key, told] : told_) {
    const bool forgets = told.place == 0 && (!told.at || *told.at + kOften <= now);
    if (!next.contains(key) && !forgets && line.find(key) != nullptr) tell(key, {});
  }
  told_ = std::move(next);
  known_ = true;
  return changed;
}

bool ToldPlaces::change(Told& told, const Told& found, base::WallTime now) {
  if (told.place == found.place && !differs(told.start, found.start, now)) return false;
  if (told.at && now < *told.at + kOften && now >= *told.at) return false;
  told = {found.place, found.start, now};
  return true;
}

void ToldPlaces::show(const api::GpuJob& job, api::JobQueueStatus& turn) const {
  const auto told = told_.find(job.metadata.key());
  const auto* shown = known_ ? nullptr : turn_in(job);
  std::optional<base::WallTime> start;
  if (told != told_.end()) {
    turn.place = told->second.place;
    start = told->second.start;
  } else if (shown != nullptr) {
    turn.place = shown->place;
    start = start_in(*shown);
  }
  // Of all estimates, only the time of the first in line is a promise: who comes later may pass all others.
  if (turn.latest_start) {
    turn.estimated_start = turn.latest_start;
    turn.basis = api::estimate_basis::kBounds;
  } else if (start) {
    turn.estimated_start = start;
    turn.basis = api::estimate_basis::kHistory;
  }
}

}  // namespace gpupool::planning
