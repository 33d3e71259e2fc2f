// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/assess_workers.h"
#include "planning/workers/pod_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using test::deleted;
using test::ended;
using test::exited_result;
using test::interrupted_result;
using test::make_job;
using test::make_lease;
using test::make_pod;
using test::restarted;
using test::running;
using test::share;
using test::signaled_result;
using test::worker_of;
using testing::HasSubstr;

api::Pod evicted(api::Pod pod) {
  pod.status.phase = "Failed";
  pod.status.reason = "Evicted";
  pod.status.message = "low on memory";
  return pod;
}

api::Pod disrupted(api::Pod pod) {
  pod.status.conditions.push_back({"DisruptionTarget", "True", "PreemptionByScheduler", "preempted"});
  return pod;
}

api::Pod waiting(const std::string& reason, const std::string& message) {
  auto pod = make_pod();
  worker_of(pod).state.waiting = api::ContainerWaiting{reason, message};
  return pod;
}

api::Pod unschedulable() {
  auto pod = make_pod();
  pod.spec.node_name.clear();
  pod.status.container_statuses.clear();
  pod.status.conditions.push_back({"PodScheduled", "False", "Unschedulable", "0/3 nodes fit"});
  return pod;
}

api::Pod failed_init(const std::string& phase) {
  auto pod = make_pod();
  pod.status.phase = phase;
  api::ContainerStatus init;
  init.name = "fetch";
  init.state.terminated = api::ContainerTerminated{3, 0, "Error", ""};
  pod.status.init_container_statuses = {init};
  return pod;
}

const std::string kNotStarted =
    R"({"version":1,"outcome":"notStarted","reason":"NotFound","message":"no such file"})";

struct Case {
  const char* name;
  api::Pod pod;
  WorkerState state;
  std::string message;  // a part of the message
};

std::vector<Case> cases() {
  using S = WorkerState;
  const auto pod = make_pod();
  return {
      {"Waiting", pod, S::kPending, "starting"},
      {"Running", running(pod), S::kRunning, ""},
      {"Success", ended(pod, 0, exited_result(0)), S::kSucceeded, ""},
      {"SuccessAfterRestart", restarted(ended(pod, 0, exited_result(0))), S::kSucceeded, ""},
      {"SuccessThenKilledHolder", ended(pod, 137, exited_result(0)), S::kSucceeded, ""},
      {"SuccessThenDeleted", deleted(ended(pod, 0, exited_result(0))), S::kSucceeded, ""},
      {"SuccessThenEvicted", evicted(ended(pod, 0, exited_result(0))), S::kSucceeded, ""},
      {"Crash", ended(pod, 2, exited_result(2)), S::kCrashed, "code 2"},
      {"CrashAfterRestart", restarted(ended(pod, 2, exited_result(2))), S::kCrashed, "code 2"},
      {"Signal", ended(pod, 139, signaled_result(11)), S::kCrashed, "signal 11"},
      {"CrashWithTail", ended(pod, 1, exited_result(1, R"(,"tail":"boom")")), S::kCrashed, "boom"},
      {"OutOfMemoryWithResult", ended(pod, 137, signaled_result(9), "OOMKilled"), S::kCrashed, "memory"},
      {"OutOfMemoryWithoutResult", ended(pod, 137, "", "OOMKilled"), S::kCrashed, "memory"},
      {"OutOfMemoryInterrupted", ended(pod, 137, interrupted_result(), "OOMKilled"), S::kCrashed, "memory"},
      {"KilledWithoutResult", ended(pod, 137), S::kLost, "137"},
      {"StoppedWithoutResult", ended(pod, 143), S::kLost, "143"},
      {"EndedWithItsNode", ended(pod, 255, "", "Unknown"), S::kLost, "unseen"},
      {"EndedUnseenByTheKubelet", ended(pod, 137, "", "ContainerStatusUnknown"), S::kLost, "unseen"},
      {"RestartedAfterAnUnseenEnd", restarted(ended(pod, 137, "", "ContainerStatusUnknown")), S::kUnproven,
       "started again"},
      {"RestartedAfterItsNode", restarted(ended(pod, 255, "", "Unknown")), S::kLost, "unseen"},
      {"EndedWithoutResult", ended(pod, 5), S::kCrashed, "code 5"},
      {"SuccessCodeWithoutResult", ended(pod, 0), S::kCrashed, "no result"},
      {"Interrupted", ended(pod, 1, interrupted_result()), S::kLost, "interrupted"},
      {"ToldToStop", ended(pod, 143, exited_result(143, R"(,"stopSignal":15)")), S::kLost, "signal 15"},
      {"ToldToStopAndExitedZero", ended(pod, 0, exited_result(0, R"(,"stopSignal":15)")), S::kLost, "15"},
      {"NotStarted", ended(pod, 127, kNotStarted), S::kCrashed, "did not start (NotFound): no such file"},
      {"Evicted", evicted(ended(pod, 137)), S::kLost, "Evicted: low on memory"},
      {"EvictedAfterCrash", evicted(ended(pod, 1, exited_result(1))), S::kLost, "Evicted"},
      {"DeletedWhileRunning", deleted(running(pod)), S::kLost, "deleted"},
      {"DeletedAndCrashed", deleted(ended(pod, 1, exited_result(1))), S::kLost, "deleted"},
      {"DeletedWhileWaiting", deleted(pod), S::kLost, "deleted"},
      {"Disrupted", disrupted(running(pod)), S::kLost, "PreemptionByScheduler"},
      {"ImagePull", waiting("ImagePullBackOff", "no image"), S::kPending, "ImagePullBackOff: no image"},
      {"Unschedulable", unschedulable(), S::kPending, "Unschedulable: 0/3 nodes fit"},
      {"InitFailedForGood", failed_init("Failed"), S::kCrashed, "init container fetch exited with code 3"},
      {"InitFailedAndTriedAgain", failed_init("Pending"), S::kPending, ""},
  };
}

class AssessWorker : public testing::TestWithParam<std::size_t> {};

TEST_P(AssessWorker, TellsHowItStands) {
  const auto all = cases();
  const auto& wanted = all.at(GetParam());
  const auto view = assess_worker(wanted.pod, test::kWorker, 4);
  EXPECT_EQ(view.state, wanted.state) << view.message;
  EXPECT_THAT(view.message, HasSubstr(wanted.message));
  EXPECT_EQ(view.rank, 4);
}

TEST(AssessWorkerSuccess, KeepsAtMostOneKilobyteOfWholeLines) {
  const auto lines_of = [](const std::string& tail) {
    const auto result = exited_result(0, R"(,"tail":")" + tail + R"(")");
    return assess_worker(ended(make_pod(), 0, result), test::kWorker, 0).last_lines;
  };
  EXPECT_EQ(lines_of("loss 0.5\\nloss 0.1"), "loss 0.5\nloss 0.1");
  EXPECT_EQ(lines_of(std::string(2000, 'x')), "") << "a part of a line may mislead";
  EXPECT_EQ(lines_of(std::string(1000, 'x') + "\\n" + std::string(1000, 'y')), std::string(1000, 'y'));
  EXPECT_EQ(lines_of(std::string(10, 'x') + "\\n" + std::string(1024, 'y')), std::string(1024, 'y'));
  EXPECT_EQ(lines_of(""), "");
}

TEST(AssessWorkerRefusal, IsTheKubeletsWordBeforeAnythingRan) {
  const auto failed = [](const std::string& reason) {
    auto pod = evicted(make_pod());
    pod.status.reason = reason;
    return assess_worker(pod, test::kWorker, 0);
  };
  EXPECT_TRUE(failed("UnexpectedAdmissionError").refused);
  EXPECT_TRUE(failed("OutOfgpupool.dev/vgpu").refused);
  EXPECT_EQ(failed("OutOfgpupool.dev/vgpu").state, WorkerState::kLost);
  EXPECT_FALSE(failed("Evicted").refused);
  EXPECT_TRUE(failed("PodOSNotSupported").refused);
  EXPECT_EQ(failed("PodOSNotSupported").state, WorkerState::kCrashed) << "it says the same every time";
  EXPECT_FALSE(assess_worker(deleted(make_pod()), test::kWorker, 0).refused);
}

INSTANTIATE_TEST_SUITE_P(Pods, AssessWorker, testing::Range<std::size_t>(0, cases().size()),
                         [](const auto& each) { return std::string(cases().at(each.param).name); });

TEST(AssessWorkers, GivesEveryRankInOrder) {
  const auto views = assess_workers({share(running(make_pod("x.1", 2))), share(make_pod("x.1", 0)),
                                     share(running(make_pod("x.0", 1))), share(running(make_pod("x.1", 3)))},
                                    "x.1", 3, test::kWorker);
  ASSERT_EQ(views.size(), 3U);
  EXPECT_EQ(views[0].state, WorkerState::kPending);
  EXPECT_EQ(views[1].state, WorkerState::kAbsent) << "another lease value's pod does not count";
  EXPECT_EQ(views[2].state, WorkerState::kRunning);
}

TEST(AssessWorkers, OfTwoPodsOfOneRankTheOlderCounts) {
  auto old = evicted(make_pod("x.1", 0));
  auto young = running(make_pod("x.1", 0));
  young.metadata.creation_timestamp = test::at(60);
  for (const bool first : {true, false}) {
    const auto views =
        assess_workers({share(first ? old : young), share(first ? young : old)}, "x.1", 1, test::kWorker);
    EXPECT_EQ(views.at(0).state, WorkerState::kLost);
  }
}

TEST(AssessWorkers, OfTwoPodsOfOneSecondTheOneThatLeavesIsTheOlder) {
  for (const auto& old : {deleted(running(make_pod("x.1", 0))), evicted(make_pod("x.1", 0))}) {
    const auto young = make_pod("x.1", 0);
    for (const bool first : {true, false}) {
      const auto views =
          assess_workers({share(first ? old : young), share(first ? young : old)}, "x.1", 1, test::kWorker);
      EXPECT_EQ(views.at(0).state, WorkerState::kLost);
    }
  }
}

TEST(RankOf, ComesFromTheNameUnlessAJobOwnsIt) {
  auto pod = make_pod("x.1", 12);
  EXPECT_EQ(rank_of(pod), 12);
  pod.metadata.name = "job-1-7xk2p";
  pod.metadata.owner_references[0].kind = "Job";
  EXPECT_EQ(rank_of(pod), 0);
}

TEST(AssessWorkers, OneThatRunsAgainWithoutATraceIsUnproven) {
  auto pod = restarted(ended(make_pod(), 0, exited_result(0)));
  EXPECT_EQ(assess_worker(pod, test::kWorker, 0).state, WorkerState::kSucceeded);
  worker_of(pod).last_state = {};  // the kubelet has removed the dead container
  EXPECT_EQ(assess_worker(pod, test::kWorker, 0).state, WorkerState::kUnproven);
  EXPECT_EQ(unproven_pods({share(pod), share(running(make_pod()))}, "uid-job.1", test::kWorker).size(), 1U);
}

TEST(AssessWorkers, ALossThatNothingExplainsIsMarked) {
  const auto pod = make_pod();
  const auto unexplained = [](const api::Pod& each) {
    return assess_worker(each, test::kWorker, 0).unexplained;
  };
  EXPECT_TRUE(unexplained(ended(pod, 137)));
  EXPECT_TRUE(unexplained(ended(pod, 1, interrupted_result())));
  EXPECT_TRUE(unexplained(ended(pod, 143, exited_result(143, R"(,"stopSignal":15)"))));
  EXPECT_FALSE(unexplained(ended(pod, 255, "", "Unknown"))) << "its machine went down";
  EXPECT_FALSE(unexplained(deleted(running(pod))));
  EXPECT_FALSE(unexplained(evicted(ended(pod, 137))));
}

struct ToldToStop {
  const char* what;
  api::Pod pod;
  bool told;
  bool yielded;
};

TEST(AssessWorkers, TellWhoWasToldToStopAndWhoYielded) {
  const auto pod = make_pod();
  const auto zero = exited_result(0, R"(,"stopSignal":15)");
  const ToldToStop table[] = {
      {"exit 0 by itself", ended(pod, 0, exited_result(0)), false, false},
      {"exit 0 by itself, deleted later", deleted(ended(pod, 0, exited_result(0))), false, false},
      {"exit 0 after the notice", ended(pod, 0, zero), true, true},
      {"exit 0 after the notice of a deletion", deleted(ended(pod, 0, zero)), true, true},
      {"exit 0 after the notice of an eviction", evicted(ended(pod, 0, zero)), true, true},
      {"exit 0 after the notice, started again", restarted(ended(pod, 0, zero)), true, true},
      {"another code", deleted(ended(pod, 3, exited_result(3, R"(,"stopSignal":15)"))), true, false},
      {"killed by the signal", ended(pod, 143, signaled_result(15, R"(,"stopSignal":15)")), true, false},
      {"told before its command began",
       ended(pod, 143, R"({"version":1,"outcome":"notStarted","exitCode":0,"stopSignal":15})"), true, false},
      {"killed with its launcher at the end of the grace",
       ended(pod, 137, R"({"version":1,"outcome":"interrupted","exitCode":1,"stopSignal":15})"), true, false},
      {"killed by a signal from inside", ended(pod, 143, signaled_result(15)), false, false},
      {"deleted, and nothing of it came back", deleted(running(pod)), false, false},
  };
  for (const auto& row : table) {
    const auto view = assess_worker(row.pod, test::kWorker, 0);
    EXPECT_EQ(view.told, row.told) << row.what;
    EXPECT_EQ(view.yielded, row.yielded) << row.what;
  }
}

TEST(AssessWorker, IsStuckIfOnlyAnotherNodeOrAPersonCanHelp) {
  const auto stuck = [](const api::Pod& pod) { return assess_worker(pod, test::kWorker, 0).stuck; };
  auto pod = make_pod();
  EXPECT_FALSE(stuck(pod));
  worker_of(pod).state.waiting->reason = "ImagePullBackOff";
  EXPECT_FALSE(stuck(pod)) << "startTimeoutSeconds is for these";
  worker_of(pod).state.waiting->reason = "CreateContainerConfigError";
  EXPECT_TRUE(stuck(pod));
  pod = make_pod();
  pod.spec.node_name.clear();
  EXPECT_FALSE(stuck(pod)) << "the scheduler has not looked yet";
  pod.status.conditions = {{"PodScheduled", "False", "SchedulingGated", "..."}};
  EXPECT_FALSE(stuck(pod)) << "somebody else will remove the gate";
  pod.status.conditions = {{"PodScheduled", "False", "Unschedulable", "0/3 nodes are available"}};
  EXPECT_TRUE(stuck(pod));
}

api::Pod collected(api::Pod pod) {
  pod.status.phase = "Failed";
  pod.status.conditions.push_back({"DisruptionTarget", "True", "DeletionByPodGC", ""});
  return deleted(std::move(pod), 0);
}

TEST(HasEnded, NeedsATerminalPhaseOrTheKubeletsWord) {
  const auto pod = make_pod();
  EXPECT_FALSE(has_ended(deleted(pod, 0))) << "its command may have begun unseen";
  auto silent = deleted(pod, 0);
  silent.status.container_statuses.clear();
  EXPECT_FALSE(has_ended(silent)) << "the kubelet has yet to say anything";
  EXPECT_TRUE(is_unconfirmed(silent));
  EXPECT_FALSE(is_unconfirmed(deleted(pod)));
  EXPECT_FALSE(has_ended(collected(running(pod))))
      << "an administrator said that its machine is out of service";
  EXPECT_TRUE(has_ended(collected(ended(pod, 137))));
  auto removed = restarted(ended(pod, 137, "", "ContainerStatusUnknown"));
  EXPECT_FALSE(has_ended(deleted(removed, 0))) << "it runs again";
  worker_of(removed).state = {};
  worker_of(removed).state.waiting = api::ContainerWaiting{"PodInitializing", ""};
  EXPECT_TRUE(has_ended(deleted(removed, 0))) << "as a kubelet of 1.20 shows it";
  auto half = deleted(ended(pod, 0), 0);
  half.status.container_statuses.push_back({"side", {}, {}, 0});
  EXPECT_FALSE(has_ended(half));
  EXPECT_FALSE(has_ended(running(pod)));
  EXPECT_FALSE(has_ended(deleted(running(pod))));
  EXPECT_FALSE(has_ended(deleted(running(pod), 0))) << "a forced deletion does not end processes";
  EXPECT_FALSE(has_ended(ended(pod, 0, exited_result(0)))) << "it will be started again";
  EXPECT_FALSE(has_ended(deleted(ended(pod, 0)))) << "between two runs";
  EXPECT_TRUE(has_ended(deleted(ended(pod, 0), 0)));
  EXPECT_TRUE(has_ended(evicted(pod)));
  auto unbound = deleted(pod);
  unbound.spec.node_name.clear();
  EXPECT_TRUE(has_ended(unbound));
}

TEST(IsBetweenRuns, OnlyForPodsThatRestart) {
  EXPECT_TRUE(is_between_runs(ended(make_pod(), 0, exited_result(0))));
  EXPECT_FALSE(is_between_runs(restarted(ended(make_pod(), 0))));
  EXPECT_FALSE(is_between_runs(deleted(ended(make_pod(), 0))));
  auto of_job = ended(make_pod(), 0);
  of_job.metadata.owner_references[0].kind = "Job";
  EXPECT_FALSE(is_between_runs(of_job));
}

struct Last {
  const char* what;
  bool proves;
  std::function<void(std::vector<api::Pod>& pods, api::Lease& lease)> change;
};

// In all other cases the operator reads from the server before nodes are given back.
TEST(SoleSuccess, IsOnePodOfAJobThatNobodyTookAway) {
  const Last table[] = {
      {"the only worker has succeeded", true, [](auto&, auto&) {}},
      {"it runs", false, [](auto& pods, auto&) { pods[0] = running(pods[0]); }},
      {"it crashed, and somebody may have raised the Job's backoffLimit", false,
       [](auto& pods, auto&) { pods[0].status.phase = "Failed"; }},
      {"somebody deletes it", false, [](auto& pods, auto&) { pods[0] = deleted(pods[0]); }},
      {"its finalizer is gone, and it may go at any time", false,
       [](auto& pods, auto&) { pods[0].metadata.finalizers.clear(); }},
      {"it is of another lease", false, [](auto&, auto& lease) { lease.id = "uid-job.2"; }},
      {"a StatefulSet makes more", false,
       [](auto& pods, auto&) { pods[0].metadata.owner_references[0].kind = "StatefulSet"; }},
      {"a second one has succeeded too", false, [](auto& pods, auto&) { pods.push_back(pods[0]); }},
      {"one of another lease is there", false,
       [](auto& pods, auto&) { pods.push_back(running(make_pod("uid-job.2"))); }},
      {"none is there", false, [](auto& pods, auto&) { pods.clear(); }},
      {"something may run on a lost node", false,
       [](auto&, auto& lease) { lease.lost.push_back({"b", "uid-b", "uid-job.1"}); }},
      {"no node is marked", true, [](auto&, auto& lease) { lease.slices = 3; }},
  };
  for (const auto& row : table) {
    auto pod = ended(make_pod(), 0, exited_result(0));
    pod.metadata.owner_references[0].kind = "Job";
    pod.status.phase = "Succeeded";
    std::vector<api::Pod> pods = {pod};
    auto lease = make_lease(make_job(), api::lease_state::kReleasing, {"a"});
    row.change(pods, lease);
    std::vector<std::shared_ptr<const api::Pod>> seen;
    for (const auto& each : pods) seen.push_back(share(each));
    EXPECT_EQ(sole_success(seen, lease), row.proves) << row.what;
  }
}

TEST(HasResult, IsSeenBeforeAndAfterARestart) {
  EXPECT_TRUE(has_result(ended(make_pod(), 1, exited_result(1))));
  EXPECT_TRUE(has_result(restarted(ended(make_pod(), 1, exited_result(1)))));
  EXPECT_FALSE(has_result(ended(make_pod(), 1, "some text")));
  EXPECT_FALSE(has_result(running(make_pod())));
}

}  // namespace
}  // namespace gpupool::planning
