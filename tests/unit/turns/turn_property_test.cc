// SPDX-License-Identifier: Apache-2.0
// What must hold for any jobs of any tenants.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/unit/turns/turn_world.h"

namespace gpupool::planning {
namespace {

using test::at;
using test::TurnWorld;

constexpr std::int64_t kMost = 6;  // nodes
const std::vector<std::string> kNamespaces{"a", "b", "c", "d"};

api::PoolQueueSpec any_queue(bool guarantees) {
  api::PoolQueueSpec spec;
  for (const auto* name : {"a", "b"}) {
    api::QueueTenant tenant{name, {name}, *rc::gen::inRange<std::int64_t>(1, 5), 0, {}, {}};
    if (guarantees) tenant.guaranteed = *rc::gen::inRange<std::int64_t>(0, 3);
    if (*rc::gen::arbitrary<bool>())
      tenant.limit = tenant.guaranteed + *rc::gen::inRange<std::int64_t>(1, kMost);
    spec.tenants.push_back(tenant);
  }
  if (*rc::gen::arbitrary<bool>()) spec.order = api::queue_order::kOldestFirst;
  spec.backfill = *rc::gen::inRange(0, 5) > 0;
  return spec;
}

TurnWorld::Job any_job(std::int64_t nodes, bool all_bounded) {
  TurnWorld::Job job;
  job.ns = *rc::gen::elementOf(kNamespaces);
  job.workers = *rc::gen::inRange<std::int64_t>(1, nodes + 2);
  job.runs = *rc::gen::inRange<std::int64_t>(1, 5000);
  if (all_bounded || *rc::gen::arbitrary<bool>())
    job.deadline = job.runs + *rc::gen::inRange<std::int64_t>(0, 3000);
  job.priority = *rc::gen::inRange<std::int64_t>(0, 3);
  return job;
}

void check_limits(TurnWorld& world, const api::PoolQueueSpec& spec) {
  for (const auto& tenant : spec.tenants) {
    if (tenant.limit) RC_ASSERT(world.held(tenant.name) <= *tenant.limit * kMilli);
  }
}

// No limit is exceeded, no node is given twice (TurnWorld throws), each job starts that can, and the queue
// told the first in line no time that is exceeded.
void check_run(bool guarantees, bool all_bounded) {
  const auto spec = any_queue(guarantees);
  const auto nodes = *rc::gen::inRange<std::int64_t>(1, kMost + 1);
  RC_LOG() << nodes << " nodes, order " << spec.order << ", backfill " << spec.backfill << "\n";
  for (const auto& tenant : spec.tenants)
    RC_LOG() << tenant.name << ": weight " << tenant.weight << ", guaranteed " << tenant.guaranteed
             << ", limit " << tenant.limit.value_or(-1) << "\n";
  TurnWorld world(spec, static_cast<std::size_t>(nodes));
  const auto count = *rc::gen::inRange(1, 25);
  std::vector<std::string> names;
  std::vector<bool> possible;
  for (int i = 0; i < count; ++i) {
    const auto job = any_job(nodes, all_bounded);
    names.push_back("j" + std::to_string(i));
    auto most = nodes;
    for (const auto& tenant : spec.tenants) {
      if (tenant.name == job.ns && tenant.limit) most = std::min(most, *tenant.limit);
    }
    possible.push_back(job.workers <= most);
    RC_LOG() << "at " << world.now() << ": " << names.back() << " of " << job.ns << ", workers "
             << job.workers << ", deadline " << job.deadline << ", runs " << job.runs << ", priority "
             << job.priority << "\n";
    world.submit(names.back(), job);
    check_limits(world, spec);
    world.advance(*rc::gen::inRange<std::int64_t>(0, 1500));
    check_limits(world, spec);
  }
  for (int i = 0; i < 10 * count && world.running() > 0; ++i) {
    world.advance(3000);
    check_limits(world, spec);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    RC_ASSERT(world.started(names[i]).has_value() == possible[i]);
    const auto promised = world.promised(names[i]);
    if (promised && possible[i])
      RC_LOG() << names[i] << " starts at " << *world.started(names[i]) << ", was promised "
               << std::chrono::duration_cast<std::chrono::seconds>(*promised - at(0)).count() << "\n";
    if (promised && possible[i] && !guarantees) RC_ASSERT(at(*world.started(names[i])) <= *promised);
  }
}

RC_GTEST_PROP(TurnProperties, EveryPossibleJobStartsInTime, ()) { check_run(false, false); }
RC_GTEST_PROP(TurnProperties, EveryPossibleJobStartsInTimeIfAllHaveADeadline, ()) { check_run(false, true); }
RC_GTEST_PROP(TurnProperties, EveryPossibleJobStartsWithGuarantees, ()) { check_run(true, false); }

// A free node that a job could use is not idle unless it is kept for the first in line.
RC_GTEST_PROP(TurnProperties, NoNodeIsIdleWithoutAFirstInLine, ()) {
  const auto nodes = *rc::gen::inRange<std::int64_t>(1, kMost + 1);
  TurnWorld world({}, static_cast<std::size_t>(nodes));
  const auto count = *rc::gen::inRange(1, 20);
  for (int i = 0; i < count; ++i) {
    auto job = any_job(nodes, false);
    job.workers = 1;
    world.submit("j" + std::to_string(i), job);
    world.advance(*rc::gen::inRange<std::int64_t>(0, 500));
    const auto busy = static_cast<std::int64_t>(world.running());
    RC_ASSERT(busy == nodes || world.waiting() == 0);
  }
}

}  // namespace
}  // namespace gpupool::planning
