// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/turn_order.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "api/v1alpha1/reasons.h"
#include "base/wide.h"
#include "planning/tenants/gpu_amount.h"

namespace gpupool::planning {
namespace {

// Makes the ratio of short jobs, and of jobs that have just come, differ less.
constexpr std::int64_t kSmoothing = 60;
// Ratios are compared in these parts.
constexpr std::int64_t kParts = 1'000'000;
constexpr std::int64_t kMostWait = std::numeric_limits<std::int64_t>::max() / kParts;

}  // namespace

const WaitingLine::Entry* first_told(const WaitingLine& line) {
  const WaitingLine::Entry* found = nullptr;
  for (const auto& key : line.reserving()) {
    const auto* entry = line.find(key);
    const auto since = [](const WaitingLine::Entry& each) {
      return std::pair(each.job()->status.progress->queue->reserved_since, each.position());
    };
    if (found == nullptr || since(*entry) < since(*found)) found = entry;
  }
  return found;
}

Verdict over_limit(const std::string& pool, const Tenant& tenant, MilliGpus more, const std::string& demand) {
  return {{},
          api::reason::kLimitReached,
          "tenant " + tenant.name + " may hold " + amount_text(tenant.limit.value_or(0)) + " GPUs of pool " +
              pool + "; with " + amount_text(more) + " more, for " + demand +
              ", it would hold more than that"};
}

Verdict refused_tenant(const std::string& pool, const std::string& ns) {
  return {{},
          api::reason::kTenantRefused,
          "pool " + pool + " is not for namespace " + ns + ": spec.queue of the pool has no tenant for it"};
}

MilliGpus least_amount(const Demand& demand) { return demand.workers * demand.gpus_per_worker * kMilli; }

TurnOrder::TurnOrder(const api::PoolQueueSpec& spec, const WaitingLine& line, const Shares& shares,
                     base::WallTime now, bool of_slices)
    : shares_(shares),
      of_slices_(of_slices),
      oldest_first_(spec.order == api::queue_order::kOldestFirst),
      assumed_(spec.assumed_seconds),
      now_(now) {
  for (const auto& [tenant, waiting] : line.lanes()) {
    auto& lane = lanes_[tenant];
    lane.share = shares(tenant);
    lane.groups.reserve(waiting.size());
    for (const auto& each : waiting) {
      lane.groups.push_back({each.demand, each.group, each.first, each.priority, 0, each.created});
      rate(lane.groups.back(), each.bound_seconds);
    }
  }
  heap_.reserve(lanes_.size());
  for (auto& [name, each] : lanes_) {
    std::ranges::make_heap(each.groups, [&](const Group& a, const Group& b) { return comes_later(a, b); });
    each.guaranteed = within_guarantee(each);
    heap_.push_back(&each);
  }
  std::ranges::make_heap(heap_, [&](const Lane* a, const Lane* b) { return comes_later(a, b); });
}

TenantBook::Share TurnOrder::share_of_any(const std::string& tenant) const {
  const auto lane = lanes_.find(tenant);
  return lane == lanes_.end() ? shares_(tenant) : lane->second.share;
}

void TurnOrder::begin(Group& group) const {
  group.created = group.next->first.created;
  rate(group, group.demand->turn.bound_seconds);
}

void TurnOrder::rate(Group& group, std::int64_t bound_seconds) const {
  const auto waited = now_ - group.created;
  const auto seconds = std::max<std::int64_t>(0, std::chrono::floor<std::chrono::seconds>(waited).count());
  const auto bound = bound_seconds > 0 ? bound_seconds : assumed_;
  group.ratio = oldest_first_ ? 0 : std::min(seconds + kSmoothing, kMostWait) * kParts / (bound + kSmoothing);
}

bool TurnOrder::comes_later(const Group& a, const Group& b) const {
  if (a.priority != b.priority) return a.priority < b.priority;
  if (a.ratio != b.ratio) return a.ratio < b.ratio;
  if (a.created != b.created) return b.created < a.created;
  return b.next->first < a.next->first;
}

bool TurnOrder::within_guarantee(const Lane& lane) const {
  return !lane.guarantee_refused && !lane.share.tenant.refused &&
         lane.share.held + (of_slices_ ? 1 : least_amount(*lane.groups.front().demand)) <=
             lane.share.tenant.guaranteed;
}

bool TurnOrder::comes_later(const Lane* a, const Lane* b) const {
  if (a->guaranteed != b->guaranteed) return b->guaranteed;
  const auto& share_a = a->share;
  const auto& share_b = b->share;
  const auto part = [&](const TenantBook::Share& of) {
    return a->guaranteed ? std::pair(of.held, of.tenant.guaranteed)
                         : std::pair(of.average + of.held, of.tenant.weight);
  };
  const auto [amount_a, of_a] = part(share_a);
  const auto [amount_b, of_b] = part(share_b);
  if (of_a == of_b) {
    if (amount_a != amount_b) return amount_a > amount_b;
  } else {
    const auto key_a = base::product(amount_a, of_b);
    const auto key_b = base::product(amount_b, of_a);
    if (key_a != key_b) return key_a > key_b;
  }
  const auto created_a = a->groups.front().created;
  const auto created_b = b->groups.front().created;
  return created_a != created_b ? created_b < created_a : share_b.tenant.name < share_a.tenant.name;
}

// Most lanes stay first when one of their groups is refused: then the heap is not touched.
void TurnOrder::push_lane(Lane* lane) {
  if (lane->groups.empty()) return;
  lane->guaranteed = within_guarantee(*lane);
  if (heap_.empty() || !comes_later(lane, heap_.front())) {
    first_ = lane;
    return;
  }
  heap_.push_back(lane);
  std::ranges::push_heap(heap_, [&](const Lane* a, const Lane* b) { return comes_later(a, b); });
}

std::optional<TurnOrder::Candidate> TurnOrder::next() {
  current_ = std::exchange(first_, nullptr);
  if (current_ == nullptr) {
    if (heap_.empty()) return std::nullopt;
    std::ranges::pop_heap(heap_, [&](const Lane* a, const Lane* b) { return comes_later(a, b); });
    current_ = heap_.back();
    heap_.pop_back();
  }
  const auto& group = current_->groups.front();
  return Candidate{group.demand, &group.next->first, &group.next->second,
                   group.group,  &current_->share,   current_->guaranteed};
}

void TurnOrder::grant(MilliGpus amount) {
  current_->share.held += amount;
  skip();
}

void TurnOrder::skip() {
  const auto later = [&](const Group& a, const Group& b) { return comes_later(a, b); };
  auto& groups = current_->groups;
  std::ranges::pop_heap(groups, later);
  if (auto& group = groups.back(); ++group.next != group.group->jobs.end()) {
    begin(group);
    std::ranges::push_heap(groups, later);
  } else {
    groups.pop_back();
  }
  push_lane(std::exchange(current_, nullptr));
}

void TurnOrder::drop_first(Lane& lane) const {
  std::ranges::pop_heap(lane.groups, [&](const Group& a, const Group& b) { return comes_later(a, b); });
  lane.groups.pop_back();
}

void TurnOrder::refuse() {
  drop_first(*current_);
  push_lane(std::exchange(current_, nullptr));
}

void TurnOrder::refuse_guarantee() {
  current_->guarantee_refused = true;
  push_lane(std::exchange(current_, nullptr));
}

void TurnOrder::add_held(const std::string& tenant, MilliGpus amount) {
  const auto lane = lanes_.find(tenant);
  if (lane == lanes_.end()) return;
  lane->second.share.held += amount;
  if (!lane->second.groups.empty()) lane->second.guaranteed = within_guarantee(lane->second);
  std::ranges::make_heap(heap_, [&](const Lane* a, const Lane* b) { return comes_later(a, b); });
}

}  // namespace gpupool::planning
