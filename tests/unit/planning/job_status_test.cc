// SPDX-License-Identifier: Apache-2.0
#include "planning/job/job_status.h"

#include <gtest/gtest.h>

#include "api/v1alpha1/status_json.h"
#include "planning/billing/job_bill.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using std::nullopt;
namespace phase = api::phase;
namespace state = api::lease_state;

struct StatusCase {
  const char* name;
  std::string phase;
  const char* lease;  // state of the lease; null: no lease
  std::optional<api::Problem> stalled;
  std::set<std::string> conditions_that_are_true;
};

std::vector<StatusCase> status_cases() {
  return {
      {"Queued", phase::kQueued, nullptr, nullopt, {"Reconciling"}},
      {"QueuedAndStalled", phase::kQueued, nullptr, api::Problem{"Forbidden", "m"}, {"Stalled"}},
      {"Invalid", phase::kQueued, nullptr, api::Problem{"InvalidSpec", "m"}, {"Stalled"}},
      {"Taking", phase::kStarting, state::kTaking, nullopt, {"Reconciling"}},
      {"Held", phase::kStarting, state::kHeld, nullopt, {"Reconciling", "Leased"}},
      {"Running", phase::kRunning, state::kRunning, nullopt, {"Leased", "Running"}},
      {"RunningStalled",
       phase::kRunning,
       state::kRunning,
       api::Problem{"SpecChanged", "m"},
       {"Stalled", "Leased", "Running"}},
      {"Restarting", phase::kRestarting, state::kRestarting, nullopt, {"Reconciling", "Leased"}},
      {"Releasing", phase::kReleasing, state::kReleasing, nullopt, {"Reconciling"}},
      {"Suspended", phase::kSuspended, nullptr, nullopt, {"Suspended"}},
      {"SucceededButNotReleased", phase::kSucceeded, state::kReleasing, nullopt, {"Reconciling"}},
      {"Succeeded", phase::kSucceeded, nullptr, nullopt, {"Complete"}},
      {"Failed", phase::kFailed, nullptr, nullopt, {"Failed", "Stalled"}},
  };
}

class Conditions : public testing::TestWithParam<std::size_t> {};

TEST_P(Conditions, AgreeWithPhaseAndLease) {
  const auto wanted = status_cases().at(GetParam());
  api::GpuJobStatus status;
  status.phase = wanted.phase;
  status.reason = "Why";
  status.message = "in words";
  if (wanted.lease != nullptr) status.lease = test::make_lease(test::make_job(), wanted.lease, {"a"});
  settle_status(status, 7, wanted.stalled, test::at(5));
  EXPECT_EQ(status.observed_generation, 7);
  EXPECT_EQ(status.conditions.size(), 7U);
  std::set<std::string> are_true;
  for (const auto& condition : status.conditions) {
    EXPECT_EQ(condition.observed_generation, 7);
    EXPECT_FALSE(condition.reason.empty());
    EXPECT_TRUE(condition.last_transition_time.has_value());
    if (condition.status != "True") continue;
    are_true.insert(condition.type.string());
    if (condition.type == "Reconciling") {
      EXPECT_EQ(condition.message, "in words");  // kstatus shows this message
    }
  }
  EXPECT_EQ(are_true, wanted.conditions_that_are_true);
  EXPECT_EQ(status.reason, wanted.stalled ? wanted.stalled->reason : "Why");
}

INSTANTIATE_TEST_SUITE_P(Phases, Conditions, testing::Range<std::size_t>(0, status_cases().size()),
                         [](const auto& each) { return std::string(status_cases().at(each.param).name); });

TEST(SettleStatus, IsInvalidOnlyIfSomebodyMustCorrectSomething) {
  const auto phase_of = [](const char* reason) {
    api::GpuJobStatus status;
    status.phase = phase::kQueued;
    settle_status(status, 1, api::Problem{reason, "m"}, test::at(0));
    return status.phase.string();
  };
  for (const auto* reason : {"InvalidSpec", "InvalidTemplate", "TemplateRefused", "SliceInExclusivePool",
                             "NameConflict", "PoolNotFound"}) {
    EXPECT_EQ(phase_of(reason), phase::kInvalid) << reason;
  }
  for (const auto* reason : {"Forbidden", "CreateFailed", "WorkerChanged", "NamespaceTerminating"}) {
    EXPECT_EQ(phase_of(reason), phase::kQueued) << reason;
  }
}

TEST(SettleStatus, AWaitingJobHasNoNodes) {
  for (const auto* of : {phase::kQueued, phase::kSuspended, phase::kSucceeded, phase::kFailed}) {
    api::GpuJobStatus status;
    status.phase = of;
    status.node_names = "a,b";
    settle_status(status, 1, nullopt, test::at(0));
    const bool ended = status.phase == phase::kSucceeded || status.phase == phase::kFailed;
    EXPECT_EQ(status.node_names, ended ? "a,b" : "") << of;
  }
}

TEST(RequestedGpus, SaysGpusOrSlices) {
  api::GpuJobSpec spec;
  spec.gpus = 8;
  spec.gpus_per_worker = 4;
  EXPECT_EQ(requested_gpus(spec), "8");
  spec.gpus = 4;
  spec.gpus_per_worker = 1;
  spec.slice = api::JobSlice{"", nullopt, 3};
  EXPECT_EQ(requested_gpus(spec), "12 slices");
  spec.slice = api::JobSlice{"8Gi", nullopt, nullopt};
  EXPECT_EQ(requested_gpus(spec), "4x8Gi");
  spec.slice = api::JobSlice{"", 30, nullopt};
  EXPECT_EQ(requested_gpus(spec), "4x30%");
  spec.slice = api::JobSlice{"8Gi", 30, nullopt};
  EXPECT_EQ(requested_gpus(spec), "4x8Gi/30%");
  spec.gpus = 1;
  spec.slice = api::JobSlice{"", nullopt, 1};
  EXPECT_EQ(requested_gpus(spec), "1 slice");
}

TEST(SettleStatus, CapsTheMessage) {
  api::GpuJobStatus status;
  status.message.assign(100'000, 'x');
  settle_status(status, 1, nullopt, test::at(0));
  EXPECT_EQ(status.message.size(), 4096U);
}

TEST(HoldsNodes, NotWhenOnlyLostNodesAreLeft) {
  api::GpuJobStatus status;
  EXPECT_FALSE(holds_nodes(status));
  status.lease = test::make_lease(test::make_job(), state::kReleasing, {"a"});
  EXPECT_TRUE(holds_nodes(status));
  status.lease->nodes.clear();
  status.lease->lost = {{"b", "uid-b", "uid-job.1"}};
  EXPECT_FALSE(holds_nodes(status));
}

TEST(SummarizeNodes, CountsWhatDoesNotFit) {
  EXPECT_EQ(summarize_nodes({}), "");
  EXPECT_EQ(summarize_nodes({{"a", ""}, {"b", ""}}), "a,b");
  const std::vector<api::NodeRef> many(100, {"node-000", ""});
  const auto text = summarize_nodes(many);
  EXPECT_LE(text.size(), 110U);
  EXPECT_TRUE(text.ends_with(",+89")) << text;
}

// Names and UIDs of the nodes tell a restarted operator which nodes it may have changed, so they cannot be
// left out.
std::size_t size_of_status(std::int64_t ranks, std::int64_t nodes, bool lost, bool billed = false) {
  auto job = test::make_job("job", ranks);
  job.metadata.uid = "00000000-0000-0000-0000-000000000001";
  job.status.lease = test::make_lease(job, api::lease_state::kRunning, {});
  for (std::int64_t i = 0; i < nodes; ++i) {
    const api::NodeRef node{"gpu-rack07-node" + std::to_string(1000 + i) + ".example.org",
                            "00000000-0000-4000-8000-00000000" + std::to_string(1000 + i)};
    if (lost) {
      job.status.lease->lost.push_back({node.name, node.uid, job.status.lease->id});
    } else {
      job.status.lease->nodes.push_back(node);
    }
  }
  if (billed) {  // the lease ends, and its nodes are named twice
    std::vector<PricedNode> priced;
    std::vector<std::string> names;
    for (const auto& node : job.status.lease->nodes) {
      priced.push_back({node.name, {"lab", "alice", "EUR", "1.20", 10, 8, 0, 0}});
      names.push_back(node.name);
    }
    open_bill(job.status.progress.emplace().bill.emplace(), priced);
    begin_time(*job.status.progress->bill, test::at(0));
    leave_bill(*job.status.progress->bill, {names.begin(), names.end()}, names,
               [](const auto&) { return test::at(60); });
  }
  job.status.node_names = summarize_nodes(job.status.lease->nodes);
  job.status.message.assign(100'000, 'x');  // output of a worker
  settle_status(job.status, 1, api::Problem{"WorkerFailed", job.status.message}, test::at(0));
  return api::status_update(job.metadata, job.status).size();
}

TEST(StatusSize, AThousandRanksOnNodesWithEightGpus) {
  EXPECT_LE(size_of_status(1000, 125, false), 32U << 10U);
}

TEST(StatusSize, AThousandNodes) {
  EXPECT_LE(size_of_status(1000, 1000, false), 128U << 10U);
  EXPECT_LE(size_of_status(1000, 1000, false, true), 128U << 10U) << "with a bill";
  EXPECT_LE(size_of_status(1000, 1000, true), 192U << 10U) << "all of them lost";
}

}  // namespace
}  // namespace gpupool::planning
