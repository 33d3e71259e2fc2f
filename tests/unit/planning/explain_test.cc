// SPDX-License-Identifier: Apache-2.0
#include "planning/forecast/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "api/v1alpha1/status_json.h"
#include "tests/unit/planning/snapshots.h"

namespace gpupool::planning {
namespace {

using test::at;
using test::make_pool_node;
using test::make_waiting;
using test::SnapshotBuilder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
namespace reason = api::reason;

class Explain : public testing::Test {
 protected:
  Explain() {
    for (const auto* name : {"a", "b", "c", "d"}) lab_.nodes.push_back(make_pool_node(name));
    job_.metadata.annotations[api::kExplain] = "n1";
  }

  api::Explanation ask(const QueueSnapshot* queue) {
    Budget budget;
    return explain({job_, at(3600), queue, others_, times_.by_kind()}, budget);
  }
  api::Explanation ask_outside() { return ask(nullptr); }
  api::Explanation ask_in_line(const std::vector<api::GpuJob>& ahead = {}) {
    const auto queue = lab_.build(ahead, job_);
    return ask(&queue);
  }
  void hold_lease(const char* state, const char* phase) {
    job_.status.lease = test::make_lease(job_, state, {"a", "b"});
    job_.status.lease->since = at(3000);
    job_.status.node_names = "a,b";
    job_.status.phase = phase;
  }

  SnapshotBuilder lab_{test::make_pool()};
  api::GpuJob job_ = make_waiting("me", 2);
  std::vector<QueueSnapshot> others_;
  RunTimes times_;
};

TEST_F(Explain, TellsWhatTheJobWaitsFor) {
  lab_.nodes[2].ready = false;
  lab_.nodes[3].cordoned = true;
  lab_.hold(make_waiting("one", 1, 7200), {"a"});
  lab_.hold(make_waiting("two", 1, 5400), {"b"});
  auto stranger = make_waiting("secret", 1, 600);
  stranger.metadata.ns = "theirs";
  stranger.spec.priority = 3;
  const auto answer = ask_in_line({stranger, make_waiting("mine", 1, 600)});
  EXPECT_EQ(answer.request, "n1");
  EXPECT_EQ(answer.time, at(3600));
  EXPECT_EQ(answer.wants, "2 workers with 1 GPU each");
  EXPECT_EQ(answer.pool->nodes, 4);
  EXPECT_EQ(answer.pool->leased, 2);
  EXPECT_EQ(answer.pool->not_ready, 1);
  EXPECT_EQ(answer.pool->cordoned, 1);
  EXPECT_EQ(answer.pool->gpus, (api::ExplainedUnits{2, 0}));
  EXPECT_THAT(answer.pool->why, ElementsAre("c is not ready", "d is cordoned"));
  EXPECT_EQ(answer.ahead->jobs, 2);
  EXPECT_EQ(answer.ahead->gpus, 2);
  EXPECT_EQ(answer.ahead->higher_priority, 1);
  EXPECT_THAT(answer.ahead->yours, ElementsAre("mine"));
  EXPECT_EQ(answer.start->from, at(7200)) << "secret from 5400, mine from 6000 to 6600, one ends at 7200";
  EXPECT_EQ(answer.start->basis, api::start_basis::kDeadlines);
  EXPECT_GT(answer.start->latest, answer.start->from);
  EXPECT_THAT(answer.sooner, IsEmpty());
  EXPECT_THAT(
      answer.text,
      AllOf(StartsWith(
                "me waits for 1h in pool lab. WaitingForNodes\nwants: 2 workers with 1 GPU each\n"
                "pool lab: 4 nodes: 2 leased, 1 not ready, 1 cordoned or drained; 0 of 2 GPUs free (c is not "
                "ready; d is cordoned)\nahead: 2 jobs with 2 GPUs, 1 of higher priority; yours: mine\n"
                "start: likely "),
            HasSubstr("by deadlines"), Not(HasSubstr("secret"))));
}

TEST_F(Explain, TellsThatANodeIsDrained) {
  lab_.hold(make_waiting("one", 1, 7200), {"a"});
  lab_.hold(make_waiting("two", 1, 5400), {"b"});
  lab_.nodes[1].draining = lab_.nodes[3].draining = true;
  const auto answer = ask_in_line();
  EXPECT_EQ(answer.pool->cordoned, 2);
  EXPECT_EQ(answer.pool->gpus, (api::ExplainedUnits{2, 1})) << "of a and c";
  EXPECT_THAT(answer.pool->why, ElementsAre("b is being drained"));
  EXPECT_EQ(answer.start->from, at(7200)) << "on a and c; b will not be given again";
  EXPECT_GE(answer.start->latest, at(7200));
}

TEST_F(Explain, PromisesNoSpare) {
  auto pool = test::make_pool();
  pool.spec.spares.emplace().nodes = 1;
  auto nodes = lab_.nodes;
  lab_ = SnapshotBuilder(pool);
  lab_.nodes = std::move(nodes);
  lab_.hold(make_waiting("one", 1, 7200), {"a"});
  lab_.hold(make_waiting("two", 1, 5400), {"b"});
  lab_.hold(make_waiting("three", 1, 9000), {"c"});
  job_.spec.gpus = 1;
  auto answer = ask_in_line();
  EXPECT_EQ(answer.pool->spare, 1);
  EXPECT_EQ(answer.pool->free, 0);
  EXPECT_EQ(answer.pool->gpus, (api::ExplainedUnits{4, 0}));
  EXPECT_THAT(answer.text, HasSubstr("4 nodes: 3 leased, 1 kept as spare; 0 of 4 GPUs free"));
  EXPECT_EQ(answer.start->from, at(5400)) << "when two ends; not at once, on d";
  job_.spec.gpus = 2;
  answer = ask_in_line();
  EXPECT_EQ(answer.start->from, at(7200));
  EXPECT_GE(answer.start->latest, at(7200));
  EXPECT_THAT(answer.sooner, IsEmpty());
}

TEST_F(Explain, TellsWhatWouldStartNow) {
  lab_.hold(make_waiting("one", 1), {"a"});
  lab_.hold(make_waiting("two", 1), {"b"});
  lab_.hold(make_waiting("three", 1), {"c"});
  SnapshotBuilder spare(test::make_pool("spare"));
  spare.nodes = {make_pool_node("x"), make_pool_node("y")};
  others_.push_back(spare.build({}, job_));
  const auto answer = ask_in_line();
  EXPECT_THAT(answer.sooner, ElementsAre("with 1 GPU", "in pool spare"));
  EXPECT_FALSE(answer.start->from);
  EXPECT_THAT(answer.text,
              AllOf(HasSubstr("start: not known; no latest time: 3 jobs have no activeDeadlineSeconds"),
                    HasSubstr("now: with 1 GPU; in pool spare")));
}

TEST_F(Explain, WhatIsKeptForOthersIsNotSaidToBeFree) {
  lab_.hold(make_waiting("one", 1), {"a"});
  EXPECT_THAT(ask_in_line({make_waiting("large", 4)}).sooner, IsEmpty());
}

TEST_F(Explain, NodesOfOthersAndNodesThatDoNotSuit) {
  auto taken = lab_.nodes[1];
  subtract(taken, {.held = {}, .gpus = 1, .gpu_pod = "team/secret"});
  lab_.nodes[1] = taken;
  lab_.nodes[2].foreign_taints = {{"maintenance", "", api::kNoSchedule}};
  lab_.nodes[3] = make_pool_node("d", 0);
  const auto answer = ask_in_line();
  EXPECT_EQ(answer.pool->foreign, 1);
  EXPECT_EQ(answer.pool->tainted, 1);
  EXPECT_EQ(answer.pool->unsuited, 1);
  EXPECT_EQ(answer.pool->free, 1);
  EXPECT_THAT(answer.pool->why, ElementsAre("b has no room beside pods of others", "c is tainted",
                                            "d has no allocatable nvidia.com/gpu"));
}

TEST_F(Explain, UsesHistory) {
  times_.add(test::ended_job(make_waiting("one", 3), 4000));
  times_.add(test::ended_job(make_waiting("one", 3), 5000));
  lab_.hold(make_waiting("one", 3), {"a", "b", "c"});
  const auto answer = ask_in_line();
  EXPECT_EQ(answer.start->from, at(4000));
  EXPECT_EQ(answer.start->to, at(5000));
  EXPECT_EQ(answer.start->basis, api::start_basis::kHistory);
  EXPECT_EQ(answer.start->samples, 2);
  EXPECT_THAT(answer.text, HasSubstr("(by 2 jobs like them that ended)"));
}

TEST_F(Explain, AJobThatIsTooLargeHasNoStart) {
  job_.spec.gpus = 9;
  job_.status.reason = reason::kTooLarge;
  job_.status.message = "pool lab is too small";
  const auto answer = ask_in_line();
  EXPECT_FALSE(answer.start);
  EXPECT_THAT(answer.sooner, ElementsAre("with 4 GPUs"));
  EXPECT_THAT(answer.text,
              StartsWith("me waits for 1h in pool lab. TooLarge: pool lab is too small\nwants: 9 workers"));
}

TEST_F(Explain, APoolThatIsClosed) {
  job_.status.reason = reason::kPoolStopping;
  job_.status.message = "pool lab is being deleted";
  auto queue = lab_.build({}, job_);
  queue.closed = Verdict{{}, reason::kPoolStopping, "pool lab is being deleted"};
  const auto answer = ask(&queue);
  EXPECT_FALSE(answer.start);
  EXPECT_THAT(answer.text, HasSubstr("PoolStopping: pool lab is being deleted"));
}

TEST_F(Explain, AJobWhoseTurnItIs) {
  QueueSnapshot queue;
  queue.granted = true;
  EXPECT_EQ(ask(&queue).text, "me takes nodes in pool lab now");
}

TEST_F(Explain, TooManyJobsAhead) {
  auto queue = lab_.build({}, job_);
  queue.ahead = 20'000;
  const auto answer = ask(&queue);
  EXPECT_EQ(answer.ahead->jobs, 20'000);
  EXPECT_FALSE(answer.start);
  EXPECT_THAT(answer.text, HasSubstr("the queue is too long to say when"));
}

TEST_F(Explain, SlicesOfASharingPool) {
  const auto pool = test::make_sharing_pool();
  lab_ = SnapshotBuilder(pool);
  lab_.shared = {test::make_shared_node("a", pool), test::make_shared_node("b", pool)};
  lab_.shared[1].node.ready = false;
  auto other = make_waiting("one", 1, 7200);
  other.spec.slice.emplace().count = 8;
  lab_.hold(other, {"a"}, 0, 8);
  job_ = make_waiting("me", 1);
  job_.spec.slice.emplace().count = 4;
  auto first = make_waiting("first", 1, 600);
  first.spec.slice.emplace().count = 9;
  const auto answer = ask_in_line({first});
  EXPECT_EQ(answer.wants, "1 worker with 4 slices");
  EXPECT_EQ(answer.pool->slices, (api::ExplainedUnits{10, 2}));
  EXPECT_EQ(answer.pool->leased, 1);
  EXPECT_EQ(answer.pool->not_ready, 1);
  EXPECT_EQ(answer.ahead->slices, 9);
  EXPECT_EQ(answer.start->from, at(7800));
  EXPECT_THAT(answer.text, HasSubstr("2 of 10 slices free"));
  EXPECT_THAT(ask_in_line().sooner, ElementsAre("with 2 slices"));
}

api::Condition stalled_since_2s(const std::string& why) {
  api::Condition condition;
  condition.type = "Stalled";
  condition.status = "True";
  condition.observed_generation = 1;
  condition.reason = why;
  condition.last_transition_time = at(3598);
  return condition;
}

TEST_F(Explain, AJobThatIsInvalid) {
  job_.status.phase = api::phase::kInvalid;
  job_.status.reason = reason::kInvalidTemplate;
  job_.status.message = "spec.template: hostNetwork";
  const auto answer = ask_outside();
  EXPECT_EQ(answer.text,
            "me does not wait for nodes: it cannot run as it is written, and starts when that is corrected. "
            "InvalidTemplate: spec.template: hostNetwork");
  EXPECT_FALSE(answer.pool);
}

TEST_F(Explain, AJobThatAQuotaRefuses) {
  job_.metadata.generation = 1;
  job_.status.reason = reason::kQuotaExceeded;
  job_.status.message = "exceeded quota";
  job_.status.conditions = {stalled_since_2s(reason::kQuotaExceeded)};
  EXPECT_EQ(ask_outside().text,
            "me does not wait for nodes: the API server would refuse its workers; the API server is asked "
            "again in 3s. QuotaExceeded: exceeded quota");
  job_.status.conditions = {stalled_since_2s(reason::kTemplateRefused)};
  EXPECT_THAT(ask_outside().text, HasSubstr("somebody has to change it"));
}

TEST_F(Explain, AJobThatAKubeletDidNotTake) {
  job_.status.reason = reason::kPlacementRefused;
  EXPECT_THAT(ask_outside().text, HasSubstr("it is placed again now. PlacementRefused"));
}

TEST_F(Explain, AJobThatHasNodes) {
  hold_lease(api::lease_state::kHeld, api::phase::kStarting);
  job_.status.reason = reason::kStartingWorkers;
  EXPECT_EQ(ask_outside().text, "me has its nodes a,b and starts for 10m. StartingWorkers");
  hold_lease(api::lease_state::kRunning, api::phase::kRunning);
  job_.status.reason = reason::kWorkersRunning;
  job_.status.start_time = at(0);
  job_.spec.active_deadline_seconds = 7200;
  EXPECT_EQ(ask_outside().text,
            "me runs for 1h on a,b; it ends at the latest at 2027-01-15T10:00:00Z, by its deadline. "
            "WorkersRunning");
  hold_lease(api::lease_state::kRestarting, api::phase::kRestarting);
  job_.status.lease->not_before = at(3700);
  EXPECT_THAT(ask_outside().text,
              HasSubstr("starts its workers again, on the same nodes a,b, not before 2027"));
  hold_lease(api::lease_state::kReleasing, api::phase::kReleasing);
  job_.status.lease->outcome = api::outcome::kQueued;
  EXPECT_THAT(ask_outside().text, HasSubstr("gives its nodes back for 10m (then: Queued)"));
}

TEST_F(Explain, AJobThatDoesNotWant) {
  job_.spec.suspend = true;
  job_.status.phase = api::phase::kSuspended;
  job_.status.reason = reason::kSuspended;
  EXPECT_EQ(ask_outside().text, "me is suspended, and has no place in the queue. Suspended");
  job_.status.phase = api::phase::kSucceeded;
  job_.status.reason = reason::kCompleted;
  job_.status.completion_time = at(0);
  EXPECT_EQ(ask_outside().text,
            "me ended with success at 2027-01-15T08:00:00Z, and does not run again. Completed");
  job_.status.phase = api::phase::kFailed;
  job_.status.reason = reason::kDeadlineExceeded;
  EXPECT_THAT(ask_outside().text, StartsWith("me failed at"));
}

TEST_F(Explain, IsAskedOncePerValue) {
  EXPECT_TRUE(is_asked(job_));
  job_.status.explanation = ask_in_line();
  EXPECT_FALSE(is_asked(job_));
  job_.metadata.annotations[api::kExplain] = "n2";
  EXPECT_TRUE(is_asked(job_));
  job_.metadata.annotations[api::kExplain] = "";
  EXPECT_FALSE(is_asked(job_));
  job_.metadata.annotations.clear();
  EXPECT_FALSE(is_asked(job_));
}

TEST_F(Explain, ALongValueIsCutBetweenCharacters) {
  std::string value(63, 'x');
  value += "\u00e9\u00e9";
  job_.metadata.annotations[api::kExplain] = value;
  EXPECT_EQ(request_of(job_), std::string(63, 'x'));
  job_.status.explanation = ask_in_line();
  EXPECT_FALSE(is_asked(job_));
}

TEST_F(Explain, AnyTextOfAProgramIsShown) {
  job_.status.phase = api::phase::kFailed;
  job_.status.reason = reason::kWorkerFailed;
  job_.status.message = "line \"one\"\n\x1b[31mred";
  EXPECT_THAT(ask_outside().text, HasSubstr("line 'one'  [31mred"));
  job_.metadata.annotations[api::kExplain] = "a\n\"b\\";
  EXPECT_EQ(request_of(job_), "a ?b?");
}

// The longest names and messages.
TEST_F(Explain, HasAtMostTwoKibibytes) {
  const std::string name(45, 'n');
  job_ = make_waiting(name, 1000, 1'000'000);
  job_.metadata.annotations[api::kExplain] = std::string(100, '"');
  job_.status.reason = std::string(60, 'r');
  job_.status.message = std::string(4096, '"');
  auto pool = test::make_pool(std::string(63, 'p'));
  lab_ = SnapshotBuilder(pool);
  for (int i = 0; i < 20; ++i)
    lab_.nodes.push_back(make_pool_node(std::string(253, 'a' + static_cast<char>(i)), 1000));
  lab_.nodes[0].ready = false;
  lab_.nodes[1].cordoned = true;
  lab_.nodes.back() = make_pool_node(std::string(253, 'z'), 0);  // nodes are in order of name
  lab_.hold(make_waiting("one", 3, 100'000), {lab_.nodes[3].name});
  for (const auto* other : {"1", "2", "3"}) {
    SnapshotBuilder spare(test::make_pool(other + std::string(62, 'q')));
    spare.nodes = {make_pool_node("x", 1000)};
    others_.push_back(spare.build({}, job_));
  }
  std::vector<api::GpuJob> ahead;
  for (int i = 0; i < 9; ++i)
    ahead.push_back(make_waiting(std::to_string(i) + std::string(44, 'j'), 1000, 1'000'000));
  for (const auto* why : {reason::kTooLarge, reason::kWaitingForNodes}) {
    job_.status.reason = why;
    auto status = api::GpuJobStatus();
    const auto without = api::status_update(job_.metadata, status).size();
    status.explanation = ask_in_line(ahead);
    EXPECT_LE(api::status_update(job_.metadata, status).size() - without, 2048U)
        << api::status_update(job_.metadata, status);
  }
}

}  // namespace
}  // namespace gpupool::planning
