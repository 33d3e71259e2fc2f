// SPDX-License-Identifier: Apache-2.0
// Which of several crashes of a gang is shown.
#include <gtest/gtest.h>

#include "base/rfc3339.h"
#include "planning/job/plan_running.h"
#include "planning/job/worker_views.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

constexpr char kLostPeer[] = "RuntimeError: [gloo] Connection closed by peer [10.0.0.2]:4242";
constexpr char kOutOfMemory[] = "torch.cuda.OutOfMemoryError: CUDA out of memory";

// milliseconds: when it ended.
std::string crash(int milliseconds, const std::string& tail) {
  const auto time = base::to_rfc3339_micro(test::at(0) + std::chrono::milliseconds(milliseconds));
  return test::exited_result(1, R"(,"finishedAt":")" + time + R"(","tail":")" + tail + R"(")");
}

class FirstCrash : public testing::Test {
 protected:
  FirstCrash() {
    job_.status.phase = api::phase::kRunning;
    job_.status.lease = test::make_lease(job_, api::lease_state::kRunning, {"n0", "n1", "n2"});
  }
  api::Pod pod(std::int64_t rank) const { return test::running(test::make_pod(job_.status.lease->id, rank)); }
  void run(std::int64_t rank) { pods_.push_back(test::share(pod(rank))); }
  void end(std::int64_t rank, const std::string& result, const std::string& reason = "Error") {
    pods_.push_back(test::share(test::ended(pod(rank), 1, result, reason)));
  }
  std::int64_t first() const {
    const auto views = assess_workers(pods_, job_.status.lease->id, 3, test::kWorker);
    const auto* crash = first_crash(views);
    return crash == nullptr ? -1 : crash->rank;
  }
  Step plan(int milliseconds) const {
    Observation seen{.job = job_, .pods = pods_};
    seen.node = [](const std::string& name) { return test::share(test::make_node(name, 1)); };
    seen.not_ready_for = [](const api::Node&) { return base::Duration::zero(); };
    seen.worker_container = test::kWorker;
    seen.now = test::at(0) + std::chrono::milliseconds(milliseconds);
    return plan_running(seen);
  }
  std::string shown(int milliseconds) const {
    const auto step = plan(milliseconds);
    const auto* write = std::get_if<step::WriteStatus>(&step);
    return write == nullptr ? "" : write->status.message;
  }

  api::GpuJob job_ = test::make_job("job", 3);
  Pods pods_;
};

TEST_F(FirstCrash, IsTheEarliestToTheMicrosecond) {
  end(0, crash(900, "a"));
  end(1, crash(400, "b"));
  end(2, crash(401, "c"));
  EXPECT_EQ(first(), 1);
}

TEST_F(FirstCrash, IsNotAConsequenceIfThereIsACause) {
  end(0, crash(100, kLostPeer));
  end(1, crash(700, kOutOfMemory));
  end(2, crash(600, kLostPeer));
  EXPECT_EQ(first(), 1) << "the clocks of machines differ";
}

TEST_F(FirstCrash, IsAConsequenceIfAllOthersAre) {
  end(0, crash(500, kLostPeer));
  end(1, crash(300, kLostPeer));
  EXPECT_EQ(first(), 1);
}

TEST_F(FirstCrash, MuchLaterIsNotACause) {
  end(0, crash(100, kLostPeer));
  end(1, crash(5101, kOutOfMemory));
  EXPECT_EQ(first(), 0);
}

TEST_F(FirstCrash, WithoutAResultIsACause) {
  end(0, crash(100, kLostPeer));
  end(1, "", "OOMKilled");
  EXPECT_EQ(first(), 1);
}

TEST_F(FirstCrash, EndedBySigtermFromInsideIsAConsequence) {
  end(0, test::signaled_result(15, R"(,"finishedAt":")" + base::to_rfc3339_micro(test::at(0)) + "\""));
  end(1, crash(700, kOutOfMemory));
  EXPECT_EQ(first(), 1);
}

TEST_F(FirstCrash, AConsequenceWaitsForTheOthersResults) {
  end(0, crash(100, kLostPeer));
  run(1);
  run(2);
  const auto waits = plan(600);
  ASSERT_TRUE(std::holds_alternative<step::Idle>(waits));
  EXPECT_EQ(std::get<step::Idle>(waits).after, std::chrono::milliseconds(2500));
  EXPECT_TRUE(shown(3100).starts_with("attempt 0: rank 0 ")) << shown(3100);
  EXPECT_TRUE(shown(-4000).starts_with("attempt 0: rank 0 ")) << "clocks that differ by much";
  pods_[1] = test::share(test::ended(pod(1), 1, crash(90, kOutOfMemory), "Error"));
  EXPECT_TRUE(shown(700).starts_with("attempt 0: rank 1 ")) << shown(700);
}

TEST_F(FirstCrash, ACauseDoesNotWait) {
  end(0, crash(100, kOutOfMemory));
  run(1);
  run(2);
  EXPECT_TRUE(shown(110).starts_with("attempt 0: rank 0 ")) << shown(110);
}

}  // namespace
}  // namespace gpupool::planning
