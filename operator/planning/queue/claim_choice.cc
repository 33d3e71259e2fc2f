// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/claim_choice.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "api/v1alpha1/gpu_job.h"
#include "base/wide.h"

namespace gpupool::planning {
namespace {

// What each restart costs, in seconds of all its GPUs.
constexpr std::int64_t kRestartSeconds = 120;
// After so many yields the guard grows no more.
constexpr std::int64_t kMostDoublings = 8;
// Jobs that are tried alone. More than one is tried only if nodes of several models, or near ones, are asked.
constexpr int kMostTriedAlone = 64;

base::Wide cost_of_yield(const HoldingNow& holder) {
  return base::product(holder.holding->amount, kRestartSeconds + holder.lost_seconds);
}

}  // namespace

base::WallTime guarded_until(const Holding& holding, const api::QueueYield& spec, YieldRule rule) {
  const auto least = rule == YieldRule::kShare ? spec.share_min_run_seconds : spec.min_run_seconds;
  const auto doublings = std::clamp<std::int64_t>(holding.yields, 0, kMostDoublings);
  return holding.running_since + std::chrono::seconds(least << doublings);
}

// One call of choose().
struct YieldChoice::Search {
  const Claimant& claimant;
  YieldRule rule;
  const std::vector<std::int64_t>& worth;
  const RoomOf& room_of;
  std::size_t holders;

  std::optional<ClaimRoom> room(const std::vector<std::size_t>& victims, std::size_t count) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += worth[victims[i]];
    if (sum < claimant.missing) return std::nullopt;
    Freed freed(holders);
    for (std::size_t i = 0; i < count; ++i) freed[victims[i]] = true;
    return room_of(freed);
  }
  std::optional<ClaimRoom> room(const std::vector<std::size_t>& victims) const {
    return room(victims, victims.size());
  }
  // Leaves those whose nodes the claimant gets. Keeps the order.
  static void keep_holders(std::vector<std::size_t>& victims, const ClaimRoom& room) {
    std::erase_if(victims, [&](std::size_t each) { return !std::ranges::binary_search(room.holders, each); });
  }
  // Spares those without whom the others suffice, the last first. REQUIRES: victims suffice.
  std::optional<ClaimChoice> spare(std::vector<std::size_t> victims) const {
    auto room_of_all = room(victims);
    if (!room_of_all) return std::nullopt;
    if (victims.size() > api::kMaxAwaited) keep_holders(victims, *room_of_all);
    if (victims.size() > api::kMaxAwaited) return std::nullopt;
    for (auto i = victims.size(); i-- > 0 && victims.size() > 1;) {
      auto fewer = victims;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (auto enough = room(fewer)) {
        victims = std::move(fewer);
        room_of_all = std::move(enough);
      }
    }
    return ClaimChoice{std::move(victims), *std::move(room_of_all)};
  }
};

YieldChoice::YieldChoice(const api::QueueYield& spec, std::vector<HoldingNow> holders, Shares shares,
                         base::WallTime now)
    : spec_(spec), holders_(std::move(holders)), shares_(std::move(shares)), now_(now) {
  for (std::size_t i = 0; i < holders_.size(); ++i) {
    if (!holders_[i].may_yield) continue;
    if (!holders_[i].covered) uncovered_.push_back(i);
    by_tenant_[holders_[i].holding->tenant].push_back(i);
  }
}

const TenantBook::Share& YieldChoice::share(const std::string& tenant) const {
  const auto known = known_.find(tenant);
  return known != known_.end() ? known->second : known_.emplace(tenant, shares_(tenant)).first->second;
}

// Whether the tenant of the claimant, with this amount more, still has less than the other without what is
// freed. In hundredths, since the margin is one.
bool YieldChoice::keeps_margin(const Claimant& claimant, MilliGpus amount, const std::string& tenant,
                               MilliGpus freed) const {
  constexpr std::int64_t kHundred = 100;
  const auto& own = share(claimant.tenant);
  const auto& other = share(tenant);
  return base::product(own.average + own.held + amount, other.tenant.weight) *
             (kHundred + spec_.margin_percent) <=
         base::product(other.average + other.held - freed, own.tenant.weight) * kHundred;
}

bool YieldChoice::is_victim(const HoldingNow& holder, const Claimant& claimant, YieldRule rule) const {
  if (!holder.may_yield) return false;
  const auto& holding = *holder.holding;
  const bool own = holding.tenant == claimant.tenant;
  switch (rule) {
    case YieldRule::kGuarantee:
      return !own && !holder.covered;
    case YieldRule::kPriority:
      return own && holding.priority < claimant.priority;
    case YieldRule::kShare:
      return !own && !holder.covered && holding.saves &&
             keeps_margin(claimant, claimant.least, holding.tenant, holding.amount);
  }
  return false;
}

bool YieldChoice::guarded(const HoldingNow& holder, YieldRule rule) const {
  return now_ < guarded_until(*holder.holding, spec_, rule);
}

const std::vector<std::size_t>& YieldChoice::among(const Claimant& claimant, YieldRule rule) const {
  static const std::vector<std::size_t> kNobody;
  if (rule != YieldRule::kPriority) return uncovered_;
  const auto own = by_tenant_.find(claimant.tenant);
  return own == by_tenant_.end() ? kNobody : own->second;
}

YieldChoice::Outlook YieldChoice::outlook(const Claimant& claimant, YieldRule rule) const {
  Outlook outlook;
  known_.clear();
  for (const auto each : among(claimant, rule)) {
    const auto& holder = holders_[each];
    if (!is_victim(holder, claimant, rule)) continue;
    if (!guarded(holder, rule)) {
      outlook.now = true;
      continue;
    }
    const auto until = guarded_until(*holder.holding, spec_, rule);
    outlook.next = std::min(outlook.next.value_or(until), until);
  }
  return outlook;
}

// All rules again, for what is the result.
bool YieldChoice::is_legal(const Search& search, const ClaimChoice& choice) const {
  const auto& claimant = search.claimant;
  const auto& own = share(claimant.tenant);
  std::unordered_map<std::string, MilliGpus> freed;
  for (const auto each : choice.victims) {
    const auto& holder = holders_[each];
    if (!is_victim(holder, claimant, search.rule) || guarded(holder, search.rule)) return false;
    freed[holder.holding->tenant] += holder.holding->amount;
  }
  const auto least_held = own.held + choice.room.amount - freed[claimant.tenant];
  if (own.tenant.limit && least_held > *own.tenant.limit) return false;
  if (search.rule == YieldRule::kGuarantee) return least_held <= own.tenant.guaranteed;
  if (search.rule == YieldRule::kPriority) return true;
  return std::ranges::all_of(choice.victims, [&](std::size_t each) {
    const auto& tenant = holders_[each].holding->tenant;
    return keeps_margin(claimant, choice.room.amount, tenant, freed[tenant]);
  });
}

// Of the tenants with the greatest share first; then the lowest priority, the cheapest, the youngest.
void YieldChoice::put_in_order(std::vector<std::size_t>& victims) const {
  struct Key {
    const TenantBook::Share* share;
    const HoldingNow* holder;
    std::size_t index;
  };
  std::vector<Key> keys;
  keys.reserve(victims.size());
  for (const auto each : victims)
    keys.push_back({&share(holders_[each].holding->tenant), &holders_[each], each});
  std::ranges::sort(keys, [](const Key& a, const Key& b) {
    if (a.share != b.share) {
      const auto share_a = base::product(a.share->average + a.share->held, b.share->tenant.weight);
      const auto share_b = base::product(b.share->average + b.share->held, a.share->tenant.weight);
      if (share_a != share_b) return share_a > share_b;
      return a.share->tenant.name < b.share->tenant.name;
    }
    const auto& of_a = *a.holder->holding;
    const auto& of_b = *b.holder->holding;
    if (of_a.priority != of_b.priority) return of_a.priority < of_b.priority;
    if (a.holder->lost_seconds != b.holder->lost_seconds)
      return a.holder->lost_seconds < b.holder->lost_seconds;
    if (of_a.held_since != of_b.held_since) return of_a.held_since > of_b.held_since;
    return a.index < b.index;
  });
  std::ranges::transform(keys, victims.begin(), &Key::index);
}

std::optional<ClaimChoice> YieldChoice::cheapest(const Search& search,
                                                 const std::vector<std::size_t>& victims) const {
  std::vector<std::pair<base::Wide, std::size_t>> alone;
  for (std::size_t i = 0; i < victims.size(); ++i) {
    if (search.worth[victims[i]] >= search.claimant.missing)
      alone.emplace_back(cost_of_yield(holders_[victims[i]]), i);
  }
  std::ranges::sort(alone);
  int tried = 0;
  for (const auto& [cost, i] : alone) {
    if (++tried > kMostTriedAlone) break;
    auto room = search.room({victims[i]});
    if (!room) continue;
    ClaimChoice choice{{victims[i]}, *std::move(room)};
    if (is_legal(search, choice)) return choice;
  }
  return std::nullopt;
}

// The fewest from the front that suffice.
std::optional<ClaimChoice> YieldChoice::first_enough(const Search& search,
                                                     std::vector<std::size_t> victims) const {
  std::size_t few = 0;
  std::size_t enough = victims.size();
  while (few + 1 < enough) {
    const auto middle = few + (enough - few) / 2;
    (search.room(victims, middle) ? enough : few) = middle;
  }
  victims.resize(enough);
  auto choice = search.spare(std::move(victims));
  if (choice && is_legal(search, *choice)) return choice;
  return std::nullopt;
}

// Of each other tenant, only so much that the margin is kept when all of it is gone.
void YieldChoice::drop_too_many(const Claimant& claimant, std::vector<std::size_t>& victims) const {
  std::unordered_map<std::string, MilliGpus> freed;
  std::erase_if(victims, [&](std::size_t each) {
    const auto& holding = *holders_[each].holding;
    auto& sum = freed[holding.tenant];
    if (!keeps_margin(claimant, claimant.least, holding.tenant, sum + holding.amount)) return true;
    sum += holding.amount;
    return false;
  });
}

std::optional<ClaimChoice> YieldChoice::choose_among(const Search& search,
                                                     std::vector<std::size_t> victims) const {
  if (victims.empty() || !search.room(victims)) return std::nullopt;
  put_in_order(victims);
  if (auto one = cheapest(search, victims)) return one;
  if (search.rule == YieldRule::kShare) {
    drop_too_many(search.claimant, victims);
    if (victims.empty() || !search.room(victims)) return std::nullopt;
  }
  return first_enough(search, std::move(victims));
}

std::optional<ClaimChoice> YieldChoice::choose(const Claimant& claimant, YieldRule rule,
                                               const std::vector<std::int64_t>& worth,
                                               const RoomOf& room_of) const {
  const Search search{claimant, rule, worth, room_of, holders_.size()};
  known_.clear();  // jobs may have got nodes since
  std::vector<std::size_t> victims;
  std::vector<std::size_t> saving;
  for (const auto each : among(claimant, rule)) {
    const auto& holder = holders_[each];
    if (worth[each] == 0 || !is_victim(holder, claimant, rule) || guarded(holder, rule)) continue;
    victims.push_back(each);
    if (holder.holding->saves) saving.push_back(each);
  }
  if (rule != YieldRule::kGuarantee) return choose_among(search, std::move(victims));
  const bool others = saving.size() < victims.size();
  if (auto choice = choose_among(search, std::move(saving))) return choice;
  return others ? choose_among(search, std::move(victims)) : std::nullopt;
}

}  // namespace gpupool::planning
