#include "controllers/cluster/pool_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "api/v1alpha1/reasons.h"
#include "planning/job_status.h"
#include "tests/support/manual_clock.h"
#include "tests/unit/planning/builders.h"
#include "tests/unit/runtime/scripted_transport.h"

namespace gpupool::controllers {
namespace {

// Caches that a test writes itself, and a queue that is told of each change.
class PoolQueueWorld {
 public:
  PoolQueueWorld() { put(test::make_pool("lab")); }

  void put(api::GpuPool pool) {
    pool.metadata.finalizers = {api::kPoolFinalizer};
    pools_.apply(std::move(pool));
    caches_.placement.update(caches_.pools.store().list());
    queue_.everything_changed();
  }
  void put(api::Node node) {
    const auto name = node.metadata.name;
    nodes_.apply(std::move(node));
    queue_.node_changed(name);
  }
  void remove_node(const std::string& name) {
    nodes_.remove({"", name});
    queue_.node_changed(name);
  }
  void put(api::GpuJob job) {
    const auto key = job.metadata.key();
    const auto uid = job.metadata.uid;
    job.metadata.resource_version = std::to_string(++version_);
    if (caches_.jobs.store().get(key) == nullptr) arrivals_.push_back(uid);
    jobs_.apply(std::move(job));
    queue_.arrived(uid);
    queue_.job_changed(key);
  }
  void remove_job(const std::string& name) {
    jobs_.remove({"ns", name});
    queue_.job_changed({"ns", name});
  }

  // As a reconcile does: what is granted is written before the grant ends.
  planning::Verdict take(const std::string& name) {
    auto job = *this->job(name);
    auto verdict = queue_.verdict(job);
    if (!verdict.nodes.empty()) {
      job.status.lease.emplace();
      job.status.lease->id = "uid." + std::to_string(version_);
      job.status.lease->state = api::lease_state::kTaking;
      job.status.lease->nodes = verdict.nodes;
      put(std::move(job));
    }
    queue_.settle({"ns", name});
    return verdict;
  }
  void finish(const std::string& name) {
    auto job = *this->job(name);
    job.status.lease.reset();
    job.status.phase = api::phase::kSucceeded;
    put(std::move(job));
  }

  // What a queue that begins now has to say.
  std::unique_ptr<PoolQueue> begin_anew() const {
    auto fresh = std::make_unique<PoolQueue>(caches_);
    for (const auto& uid : arrivals_) fresh->arrived(uid);
    return fresh;
  }

  std::shared_ptr<const api::GpuJob> job(const std::string& name) const {
    return caches_.jobs.store().get({"ns", name});
  }
  std::vector<std::shared_ptr<const api::GpuJob>> jobs() const { return caches_.jobs.store().list(); }
  PoolQueue& queue() { return queue_; }

 private:
  test::ScriptedTransport transport_;
  test::ManualClock clock_;
  base::Metrics metrics_;
  base::Log log_ = base::Log::none();
  kube::Client client_{transport_, nullptr, clock_, metrics_, {}};
  Caches caches_{client_, clock_, metrics_, log_};
  runtime::StoreWriter<api::GpuPool> pools_{caches_.pools.store()};
  runtime::StoreWriter<api::GpuJob> jobs_{caches_.jobs.store()};
  runtime::StoreWriter<api::Node> nodes_{caches_.nodes.store()};
  PoolQueue queue_{caches_};
  std::vector<std::string> arrivals_;
  int version_ = 0;
};

api::GpuJob make_job(const std::string& name, std::int64_t gpus, std::int64_t age = 0) {
  auto job = test::make_job(name, gpus);
  job.metadata.uid = "uid-" + name;
  job.metadata.generation = 1;
  job.metadata.creation_timestamp = test::at(age);
  return job;
}

TEST(PoolQueue, GivesNoNodeTwiceBeforeTheFirstGrantIsWritten) {
  PoolQueueWorld world;
  world.put(test::make_node("a"));
  world.put(make_job("one", 1));
  world.put(make_job("two", 1));
  EXPECT_EQ(world.queue().verdict(*world.job("one")).nodes.size(), 1U);
  EXPECT_EQ(world.queue().verdict(*world.job("two")).reason, api::reason::kWaitingForNodes);
  EXPECT_EQ(world.queue().verdict(*world.job("one")).nodes.size(), 1U) << "asked again, it still has it";
}

TEST(PoolQueue, AGrantThatCameToNothingGoesToTheNext) {
  PoolQueueWorld world;
  world.put(test::make_node("a"));
  world.put(make_job("one", 1));
  world.put(make_job("two", 1));
  EXPECT_EQ(world.queue().verdict(*world.job("one")).nodes.size(), 1U);
  world.remove_job("one");
  world.queue().settle({"ns", "one"});
  EXPECT_EQ(world.queue().verdict(*world.job("two")).nodes.size(), 1U);
}

TEST(PoolQueue, TellsOnlyThoseWhoseAnswerChanged) {
  PoolQueueWorld world;
  world.put(test::make_node("a"));
  for (int i = 0; i < 4; ++i) world.put(make_job("job-" + std::to_string(i), 1, i));
  EXPECT_EQ(world.take("job-0").nodes.size(), 1U);
  for (int i = 1; i < 4; ++i) {  // they are told
    auto job = *world.job("job-" + std::to_string(i));
    const auto verdict = world.queue().verdict(job);
    job.status.reason = verdict.reason;
    job.status.message = verdict.message;
    world.put(std::move(job));
  }
  EXPECT_THAT(world.queue().changed_jobs("lab"), testing::IsEmpty());
  world.finish("job-0");
  EXPECT_THAT(world.queue().changed_jobs("lab"), testing::ElementsAre(api::ObjectKey{"ns", "job-1"}));
  EXPECT_EQ(world.take("job-1").nodes.size(), 1U);
  EXPECT_THAT(world.queue().changed_jobs("lab"), testing::IsEmpty());
}

// Says the same as a queue that has read everything anew, whatever came before.
RC_GTEST_PROP(PoolQueue, WorkingInChangesIsAsGoodAsBeginningAnew, ()) {
  PoolQueueWorld world;
  int names = 0;
  const auto pick = [](const auto& from) { return from[*rc::gen::inRange<std::size_t>(0, from.size())]; };
  std::vector<std::string> node_names;
  for (int i = 0; i < 4; ++i) {
    node_names.push_back("n" + std::to_string(i));
    world.put(test::make_node(node_names.back(), *rc::gen::inRange(1, 4)));
  }
  const int steps = *rc::gen::inRange(5, 40);
  for (int i = 0; i < steps; ++i) {
    std::vector<std::string> waiting;
    std::vector<std::string> holding;
    for (const auto& job : world.jobs()) {
      if (planning::holds_nodes(job->status)) holding.push_back(job->metadata.name);
      if (!job->status.lease && job->status.phase.empty()) waiting.push_back(job->metadata.name);
    }
    const int what = *rc::gen::inRange(0, 10);
    if (what < 3) {
      auto job = make_job("j" + std::to_string(names++), *rc::gen::inRange(1, 6), i);
      job.spec.priority = *rc::gen::weightedElement<std::int64_t>({{5, 0}, {1, 1}});
      if (*rc::gen::inRange(0, 5) == 0) job.spec.nodes = {pick(node_names)};
      world.put(std::move(job));
    } else if (what == 3 && !waiting.empty()) {
      world.remove_job(pick(waiting));
    } else if (what == 4 && !waiting.empty()) {
      auto job = *world.job(pick(waiting));
      job.spec.suspend = !job.spec.suspend;
      ++job.metadata.generation;
      world.put(std::move(job));
    } else if (what == 5) {
      auto node = test::make_node(pick(node_names), *rc::gen::inRange(0, 4));
      node.spec.unschedulable = *rc::gen::inRange(0, 3) == 0;
      world.put(std::move(node));
    } else if (what == 6) {
      world.remove_node(pick(node_names));
    } else if (what == 7 && !holding.empty()) {
      world.finish(pick(holding));
    } else if (what == 8) {
      auto pool = test::make_pool("lab");
      pool.spec.gpus.homogeneous = *rc::gen::arbitrary<bool>();
      ++pool.metadata.generation;
      world.put(std::move(pool));
    } else if (what == 9) {
      world.queue().changed_jobs("lab");
    }
    for (const auto& name : waiting) {
      if (world.job(name) == nullptr || *rc::gen::inRange(0, 2) == 0) continue;
      const auto expected = world.begin_anew()->verdict(*world.job(name));
      RC_ASSERT(world.take(name) == expected);
    }
    const auto seen = world.queue().view("lab");
    const auto expected = world.begin_anew()->view("lab");
    RC_ASSERT(seen->nodes == expected->nodes);
    RC_ASSERT(seen->waiting == expected->waiting);
    RC_ASSERT(seen->holding == expected->holding);
  }
}

}  // namespace
}  // namespace gpupool::controllers
