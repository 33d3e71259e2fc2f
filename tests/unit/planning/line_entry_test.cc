// SPDX-License-Identifier: Apache-2.0
#include "planning/job/line_entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/plan_job.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
namespace phase = api::phase;
using std::chrono::seconds;

api::GpuJob stalled(const std::string& why, const std::string& message = "the API server said no") {
  auto job = test::make_job();
  job.status.phase = phase::kQueued;
  job.status.reason = why;
  job.status.message = message;
  job.status.lease_sequence = 1;
  api::Condition condition;
  condition.type = "Stalled";
  condition.status = "True";
  condition.observed_generation = 1;
  condition.reason = why;
  condition.message = message;
  api::set_condition(job.status.conditions, std::move(condition), test::at(0));
  return job;
}

TEST(StandsInLine, NotWhileTheServerRefusesTheWorkers) {
  EXPECT_TRUE(stands_in_line(test::make_job()));
  for (const char* why :
       {reason::kTemplateRefused, reason::kNameConflict, reason::kForbidden, reason::kQuotaExceeded,
        reason::kCreateFailed, reason::kWorkerChanged, reason::kNamespaceTerminating}) {
    auto job = stalled(why);
    EXPECT_FALSE(stands_in_line(job)) << why;
    job.metadata.generation = 2;
    EXPECT_TRUE(stands_in_line(job)) << why << ": somebody has changed the spec";
  }
  EXPECT_TRUE(stands_in_line(stalled(reason::kInvalidTemplate)))
      << "found by gpupool, which finds it again if it is still true";
  auto refused = test::make_job();
  refused.status.reason = reason::kPlacementRefused;
  EXPECT_FALSE(stands_in_line(refused));
}

TEST(Retry, ComesEverLater) {
  auto job = stalled(reason::kForbidden);
  EXPECT_EQ(until_retry(job, test::at(0)), seconds(5));
  EXPECT_EQ(until_retry(job, test::at(6)), base::Duration::zero());
  EXPECT_EQ(retry_pause(job, test::at(6)), seconds(6));
  EXPECT_EQ(retry_pause(job, test::at(5000)), seconds(300));
  job.status.lease_sequence = 4;
  EXPECT_EQ(until_retry(job, test::at(0)), seconds(40)) << "four leases came to nothing";
  job.status.lease_sequence = 400;
  EXPECT_EQ(until_retry(job, test::at(0)), seconds(300));
}

// A random job, in any state without nodes.
api::GpuJob any_job() {
  const std::string why = *rc::gen::element<std::string>(
      "", reason::kWaitingForNodes, reason::kInvalidTemplate, reason::kTemplateRefused, reason::kNameConflict,
      reason::kForbidden, reason::kCreateFailed, reason::kWorkerChanged, reason::kNamespaceTerminating,
      reason::kPlacementRefused, reason::kPoolNotFound, reason::kSuspended, reason::kSpecChanged,
      reason::kNodeLost, reason::kInvalidSpec);
  auto job = *rc::gen::arbitrary<bool>() ? stalled(why) : test::make_job();
  job.status.reason = why;
  job.status.phase = *rc::gen::element<std::string>("", phase::kQueued, phase::kSuspended, phase::kSucceeded,
                                                    phase::kFailed);
  job.status.attempts = *rc::gen::inRange(0, 12);
  job.status.lease_sequence = job.status.attempts + *rc::gen::inRange(0, 3);
  job.status.failures = *rc::gen::inRange(0, 3);
  job.metadata.generation = *rc::gen::inRange(1, 3);
  job.spec.suspend = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) job.metadata.finalizers = {api::kLease};
  if (*rc::gen::inRange(0, 5) == 0) job.metadata.deletion_timestamp = test::at(0);
  if (*rc::gen::arbitrary<bool>()) {
    api::Condition leased;
    leased.type = "Leased";
    leased.status = "False";
    api::set_condition(job.status.conditions, leased, test::at(*rc::gen::inRange(0, 400)));
  }
  if (*rc::gen::inRange(0, 4) == 0) {  // one node of an earlier lease is still lost
    auto lease = test::make_lease(job, api::lease_state::kReleasing, {}, 1);
    lease.lost = {{"gone", "uid-gone", lease.id}};
    job.status.lease = lease;
  }
  if (*rc::gen::inRange(0, 5) == 0) {
    job.spec.active_deadline_seconds = 100;
    job.status.start_time = test::at(*rc::gen::inRange(0, 400));
  }
  return job;
}

// Executes the steps of plan_job in a cluster with nothing but the job, and records whether the job takes the
// node that it gets.
struct Asked {
  bool asks = false;
  bool takes = false;
};
Asked ask(api::GpuJob job, base::WallTime now, const Verdict& given) {
  const auto pool = std::make_shared<const api::GpuPool>(test::make_pool());
  Asked asked;
  bool rehearsed = false;
  for (int steps = 0; steps < 10; ++steps) {
    Observation seen{.job = job, .pool = pool};
    seen.node = [](const std::string& name) -> std::shared_ptr<const api::Node> {
      auto node = test::make_node(name);
      for (auto& condition : node.status.conditions) {
        if (condition.type == "Ready" && name == "gone") condition.status = "Unknown";
      }
      return test::share(node);
    };
    seen.now = now;
    seen.rehearsal.done = rehearsed;
    seen.first_rehearsal.done = true;
    if (asked.asks) seen.verdict = given;
    const auto next = plan_job(seen);
    if (const auto* write = std::get_if<step::WriteStatus>(&next)) {
      job.status = write->status;
      if (job.status.lease && !job.status.lease->nodes.empty()) return {asked.asks, true};
    } else if (std::holds_alternative<step::AddFinalizer>(next)) {
      job.metadata.finalizers.emplace_back(api::kLease);
    } else if (std::holds_alternative<step::Rehearse>(next)) {
      rehearsed = true;
    } else if (std::holds_alternative<step::AskQueue>(next)) {
      asked.asks = true;
    } else {
      return asked;
    }
  }
  return asked;
}

// A job must use nodes that are granted to it at once, because no other job can use them meanwhile.
RC_GTEST_PROP(StandsInLine, OnlyAJobThatTakesWhatItIsGiven, ()) {
  const auto job = any_job();
  const auto now = test::at(*rc::gen::inRange(0, 2000));
  const bool late = job.spec.active_deadline_seconds && now >= *job.status.start_time + seconds(100);
  if (late) return;  // its deadline passes at this moment
  Verdict given;
  given.nodes = {{"a", "uid-a"}};
  const auto asked = ask(job, now, given);
  if (stands_in_line(job) || asked.asks) RC_ASSERT(asked.takes);
}

}  // namespace
}  // namespace gpupool::planning
