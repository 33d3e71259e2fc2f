// SPDX-License-Identifier: Apache-2.0
// What must hold for any claims.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/turns/turn_world.h"

namespace gpupool::planning {
namespace {

using test::at;
using test::TurnWorld;

constexpr std::int64_t kMost = 8;  // nodes
constexpr std::int64_t kGuard = 60;
const std::vector<std::string> kNamespaces{"a", "b", "c", "d"};

struct Any {
  bool guarantees = true;
  bool limits = true;
};

api::PoolQueueSpec any_queue(const Any& any, std::int64_t nodes) {
  api::PoolQueueSpec spec;
  auto left = nodes;
  for (const auto* name : {"a", "b", "c"}) {
    api::QueueTenant tenant{name, {name}, *rc::gen::inRange<std::int64_t>(1, 5), 0, {}, {}};
    if (any.guarantees) tenant.guaranteed = *rc::gen::inRange<std::int64_t>(0, left + 1);
    left -= tenant.guaranteed;
    if (any.limits && *rc::gen::inRange(0, 4) == 0)
      tenant.limit = tenant.guaranteed + *rc::gen::inRange<std::int64_t>(1, kMost);
    spec.tenants.push_back(tenant);
  }
  auto& yield = spec.yield.emplace();
  yield.to_guarantee = any.guarantees;
  yield.to_share = *rc::gen::arbitrary<bool>();
  yield.min_run_seconds = kGuard;
  yield.share_min_run_seconds = kGuard;
  yield.patience_seconds = *rc::gen::inRange<std::int64_t>(0, 300);
  yield.margin_percent = *rc::gen::inRange<std::int64_t>(0, 60);
  for (const auto& tenant : spec.tenants)
    RC_LOG() << tenant.name << ": weight " << tenant.weight << ", guaranteed " << tenant.guaranteed
             << ", limit " << tenant.limit.value_or(-1) << "\n";
  RC_LOG() << nodes << " nodes, toShare " << yield.to_share << ", patience " << yield.patience_seconds
           << ", margin " << yield.margin_percent << "\n";
  return spec;
}

TurnWorld::Job any_job(std::int64_t nodes, bool ends) {
  TurnWorld::Job job;
  job.ns = *rc::gen::elementOf(kNamespaces);
  job.workers = *rc::gen::inRange<std::int64_t>(1, nodes + 1);
  if (*rc::gen::inRange(0, 2) == 0) job.workers = 1;
  if (ends) {
    job.runs = *rc::gen::inRange<std::int64_t>(1, 3000);
    if (*rc::gen::arbitrary<bool>()) job.deadline = job.runs + *rc::gen::inRange<std::int64_t>(0, 3000);
  }
  job.priority = *rc::gen::inRange<std::int64_t>(0, 3);
  job.saves = *rc::gen::inRange(0, 3) > 0;
  job.preemptible = *rc::gen::arbitrary<bool>();
  return job;
}

// The holds that the guarantee of their tenant covers, found in another way than PoolTurns does.
std::set<std::string> covered(const TurnWorld& world, const api::QueueTenant& tenant) {
  std::vector<std::pair<std::int64_t, const TurnWorld::Held*>> oldest;
  std::map<const TurnWorld::Held*, std::string> names;
  for (const auto& [name, held] : world.holds()) {
    if (held.tenant != tenant.name) continue;
    oldest.emplace_back(held.since, &held);
    names[&held] = name;
  }
  std::ranges::stable_sort(oldest, {},
                           [](const auto& each) { return std::pair(each.first, each.second->key); });
  std::set<std::string> found;
  auto left = tenant.guaranteed * kMilli;
  for (const auto& [since, held] : oldest) {
    left -= held->amount;
    if (left < 0) break;
    found.insert(names.at(held));
  }
  return found;
}

std::int64_t amount_of(const TurnWorld& world, const std::vector<std::string>& jobs,
                       const std::string& tenant) {
  std::int64_t sum = 0;
  for (const auto& job : jobs) {
    if (world.holds().at(job).tenant == tenant) sum += world.holds().at(job).amount;
  }
  return sum;
}

// V1, V4: the set suffices, each of it is needed, and all rules hold when all of it is gone.
void check_claim(TurnWorld& world, const api::PoolQueueSpec& spec, const TurnWorld::Claim& claim) {
  RC_LOG() << "at " << world.now() << ": " << claim.job << " of " << claim.ns << ": " << claim.verdict.message
           << "\n";
  const auto& message = claim.verdict.message;
  const auto says = [&](const char* what) { return message.find(what) != std::string::npos; };
  const auto claimed = static_cast<std::int64_t>(claim.verdict.nodes.size());
  const auto own = world.share_of(claim.ns);
  RC_ASSERT(!claim.victims.empty());
  RC_ASSERT(claim.victims.size() == claim.verdict.claim->awaits.size());
  const auto of = [&](const std::string& job) {
    return std::ranges::count_if(claim.verdict.nodes, [&](const api::NodeRef& ref) {
      return std::ranges::count(world.holds().at(job).nodes, ref.name) > 0;
    });
  };
  std::int64_t freed = 0;
  std::int64_t of_victims = 0;
  for (const auto& victim : claim.victims) {
    freed += static_cast<std::int64_t>(world.holds().at(victim).nodes.size());
    of_victims += of(victim);
    RC_ASSERT(of(victim) > 0);
  }
  const auto free = claimed - of_victims;
  for (const auto& victim : claim.victims) {
    const auto& held = world.holds().at(victim);
    // The claimant may not use all nodes of a victim if some are kept for the first in line.
    if (!world.state().turns()->plan()->first())
      RC_ASSERT(free + freed - static_cast<std::int64_t>(held.nodes.size()) < claimed);
    RC_ASSERT(held.awaits.empty() && held.yields_at == 0);
    RC_ASSERT(held.job.saves || held.job.preemptible);
    RC_ASSERT(world.now() - held.since >= kGuard << std::min<std::int64_t>(world.yields(victim), 8));
    if (says("priority")) {
      RC_ASSERT(held.tenant == claim.ns);
      RC_ASSERT(held.job.priority < world.state().line().find({claim.ns, claim.job})->job()->spec.priority);
      continue;
    }
    RC_ASSERT(held.tenant != claim.ns);
    for (const auto& tenant : spec.tenants) {
      if (tenant.name == held.tenant) RC_ASSERT(!covered(world, tenant).contains(victim));
    }
    if (!says("share")) continue;
    RC_ASSERT(held.job.saves);
    const auto other = world.share_of(held.tenant);
    const auto after = other.average + other.held - amount_of(world, claim.victims, held.tenant);
    RC_ASSERT((own.average + own.held + claimed * kMilli) * other.tenant.weight *
                  (100 + spec.yield->margin_percent) <=
              after * own.tenant.weight * 100);
  }
  if (says("guarantee")) RC_ASSERT(own.held + claimed * kMilli <= own.tenant.guaranteed);
}

// What a tenant holds without what it gives back for its own job.
std::int64_t held_in_the_end(TurnWorld& world, const std::string& tenant) {
  auto sum = world.held(tenant);
  for (const auto& [name, held] : world.holds()) {
    if (held.tenant == tenant && held.yields_at > 0) sum -= held.amount;
  }
  return sum;
}

void check_limits(TurnWorld& world, const api::PoolQueueSpec& spec) {
  for (const auto& tenant : spec.tenants) {
    if (tenant.limit) RC_ASSERT(held_in_the_end(world, tenant.name) <= *tenant.limit * kMilli);
  }
}

// V3, O2: how often a job makes room is bounded, and limits hold. Without guarantees also B1: the first in
// line starts as it was told, whoever claims.
void check_open(const Any& any) {
  const auto nodes = *rc::gen::inRange<std::int64_t>(1, kMost + 1);
  const auto spec = any_queue(any, nodes);
  TurnWorld world(spec, static_cast<std::size_t>(nodes));
  if (any.guarantees && *rc::gen::arbitrary<bool>()) world.ending_seconds = 30;
  world.on_claim = [&](const TurnWorld::Claim& claim) { check_claim(world, spec, claim); };
  std::vector<std::string> names;
  const auto count = *rc::gen::inRange(1, 30);
  for (int i = 0; i < count; ++i) {
    const auto job = any_job(nodes, true);
    names.push_back("j" + std::to_string(i));
    RC_LOG() << "at " << world.now() << ": " << names.back() << " of " << job.ns << ", workers "
             << job.workers << ", deadline " << job.deadline << ", runs " << job.runs << ", priority "
             << job.priority << ", saves " << job.saves << job.preemptible << "\n";
    world.submit(names.back(), job);
    check_limits(world, spec);
    world.advance(*rc::gen::inRange<std::int64_t>(0, 600));
    check_limits(world, spec);
  }
  for (int i = 0; i < 40 * count && world.running() > 0; ++i) {
    world.advance(1000);
    check_limits(world, spec);
  }
  for (const auto& name : names) {
    const auto most =
        1 + std::ceil(std::log2(std::max<double>(2, static_cast<double>(world.now()) / kGuard)));
    RC_ASSERT(static_cast<double>(world.yields(name)) <= most);
    const auto promised = world.promised(name);
    const auto started = world.started(name);
    if (promised && started && !any.guarantees) RC_ASSERT(at(*started) <= *promised);
  }
}

RC_GTEST_PROP(ClaimProperties, OfGuaranteesPrioritiesAndShares, ()) { check_open({}); }
RC_GTEST_PROP(ClaimProperties, PromisesHold, ()) { check_open({.guarantees = false, .limits = false}); }

// V2: without arrivals and ends, claims come to an end.
RC_GTEST_PROP(ClaimProperties, ClaimsComeToAnEnd, ()) {
  const auto nodes = *rc::gen::inRange<std::int64_t>(1, kMost + 1);
  auto spec = any_queue({.limits = false}, nodes);
  spec.half_life_seconds = 31'536'000;  // what was used does not change
  TurnWorld world(spec, static_cast<std::size_t>(nodes));
  world.on_claim = [&](const TurnWorld::Claim& claim) { check_claim(world, spec, claim); };
  const auto count = *rc::gen::inRange(1, 15);
  for (int i = 0; i < count; ++i) {
    auto job = any_job(nodes, false);
    RC_LOG() << "j" << i << " of " << job.ns << ", workers " << job.workers << ", priority " << job.priority
             << ", saves " << job.saves << job.preemptible << "\n";
    world.submit("j" + std::to_string(i), job);
    if (*rc::gen::inRange(0, 3) == 0) world.advance(kGuard);
  }
  world.advance(40'000);
  const auto claims = world.claims();
  RC_ASSERT(claims <= count * count);
  world.advance(20'000);
  RC_ASSERT(world.claims() == claims);
}

}  // namespace
}  // namespace gpupool::planning
