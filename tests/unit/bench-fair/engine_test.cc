// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/engine/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "bench/fair/metrics/figures.h"
#include "tests/unit/bench-fair/jobs.h"

namespace gpupool::bench::fair {
namespace {

using testing::ElementsAre;

// Does what a test says, and wakes at one moment.
class Scripted final : public Policy {
 public:
  using Script = std::function<void(Actions&)>;
  explicit Scripted(Script script, Seconds wake = kNever) : script_(std::move(script)), wake_(wake) {}

  void arrived(JobId) override {}
  void ended(JobId id) override { ends.push_back(id); }
  void decide(Actions& actions) override {
    now_ = actions.cluster().now();
    script_(actions);
  }
  Seconds wakes_at() const override { return wake_ > now_ ? wake_ : kNever; }

  std::vector<JobId> ends;

 private:
  Script script_;
  Seconds wake_;
  Seconds now_ = -1;
};

double figure(const Workload& workload, const Outcome& outcome, const std::string& name) {
  for (const auto& each : figures_of(workload, outcome)) {
    if (each.name == name) return each.value;
  }
  ADD_FAILURE() << "no figure " << name;
  return 0;
}

TEST(FairEngine, PlaysJobsToTheirEnds) {
  const auto workload = make_workload(2, 1, {{.gpus = 2, .seconds = 10}, {.arrival = 5, .seconds = 7}});
  Scripted policy([](Actions& actions) {
    const auto waiting = actions.cluster().waiting();
    for (const auto id : waiting) {
      if (actions.cluster().job(id).gpus <= actions.cluster().free()) actions.start(id);
    }
  });
  const auto outcome = simulate(workload, {}, policy);
  EXPECT_THAT(policy.ends, ElementsAre(0, 1));
  EXPECT_EQ(outcome.jobs[1].end, 17);
  EXPECT_EQ(outcome.jobs[1].first_wait, 5);
  EXPECT_EQ(figure(workload, outcome, "lost"), 0);
}

// A job of 1000 s yields at 500 s, having saved 400 s, and waits 100 s; its restart takes 180 s.
TEST(FairEngine, AYieldCostsWhatNoCheckpointHasSaved) {
  const auto workload =
      make_workload(1, 1,
                    {{.seconds = 1000, .bound = 1100, .preemptible = true, .checkpoint = 200},
                     {.arrival = 500, .seconds = 100}});
  Scripted policy([](Actions& actions) {
    const auto& cluster = actions.cluster();
    if (cluster.now() == 500) actions.yield(0);
    if (cluster.now() == 500) actions.start(1);
    if (cluster.now() == 0 || cluster.now() == 600) actions.start(0);
    if (cluster.now() == 600) {
      EXPECT_EQ(cluster.until(0), 600 + 180 + 1100 - 400);
    }
  });
  const auto outcome = simulate(workload, {}, policy);
  EXPECT_EQ(outcome.jobs[0].end, 600 + 180 + 600);
  EXPECT_EQ(figure(workload, outcome, "preemptions"), 1);
  EXPECT_DOUBLE_EQ(figure(workload, outcome, "lost"), 100 * 280.0 / 1100);
  EXPECT_EQ(figure(workload, outcome, "past bound"), 1) << "it held its GPU for 1280 s";
}

TEST(FairEngine, AnEndBeforeAYieldDoesNotCount) {
  const auto workload = make_workload(1, 1, {{.seconds = 1000, .preemptible = true, .checkpoint = 200}});
  Scripted policy(
      [](Actions& actions) {
        if (actions.cluster().now() == 500) actions.yield(0);
        if (actions.cluster().now() <= 500) actions.start(0);
      },
      500);
  EXPECT_EQ(simulate(workload, {}, policy).jobs[0].end, 500 + 180 + 600);
}

TEST(FairEngine, WakesThePolicy) {
  const auto workload = make_workload(1, 1, {{.seconds = 1}});
  Scripted policy(
      [](Actions& actions) {
        if (actions.cluster().now() == 40) actions.start(0);
      },
      40);
  EXPECT_EQ(simulate(workload, {}, policy).jobs[0].end, 41);
}

TEST(FairEngine, CountsPromises) {
  const auto workload =
      make_workload(1, 1, {{.seconds = 10}, {.seconds = 1}, {.seconds = 1}, {.seconds = 1}});
  Scripted policy([](Actions& actions) {
    const auto& cluster = actions.cluster();
    if (cluster.now() == 0) {
      actions.promise(1, 10);
      actions.promise(2, 5);
      actions.promise(3, 5);
      actions.promise(3, kNever);
    }
    if (cluster.free() > 0 && !cluster.waiting().empty()) actions.start(*cluster.waiting().begin());
  });
  const auto outcome = simulate(workload, {}, policy);
  EXPECT_EQ(outcome.promises, 3);
  EXPECT_EQ(outcome.broken_promises, 1) << "that of job 2; that of job 3 was taken back";
}

TEST(FairEngine, RefusesWhatAPolicyMayNotDo) {
  const auto workload = make_workload(1, 1, {{.seconds = 1}, {.gpus = 1, .seconds = 1}});
  const auto playing = [&](const Scripted::Script& script) {
    Scripted policy(script);
    simulate(workload, {}, policy);
  };
  EXPECT_THROW(playing([](Actions&) {}), std::logic_error) << "leaves jobs waiting";
  EXPECT_THROW(playing([](Actions& actions) {
                 actions.start(0);
                 actions.start(1);
               }),
               std::logic_error);
  EXPECT_THROW(playing([](Actions& actions) {
                 actions.start(0);
                 actions.yield(0);
               }),
               std::logic_error)
      << "it is not preemptible";
}

TEST(FairEngine, EndsWhenAJobYieldsForEver) {
  const auto workload = make_workload(1, 1, {{.seconds = 1, .preemptible = true}});
  Scripted policy([](Actions& actions) {
    while (true) {
      actions.start(0);
      actions.yield(0);
    }
  });
  EXPECT_THROW(simulate(workload, {}, policy), std::logic_error);
}

}  // namespace
}  // namespace gpupool::bench::fair
