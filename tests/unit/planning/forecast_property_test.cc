// SPDX-License-Identifier: Apache-2.0
// The forecast against a replay of the queue, in which jobs end when they please, within their deadlines.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "planning/forecast/forecast.h"
#include "planning/forecast/latest_start.h"
#include "planning/queue/queue_plan.h"
#include "planning/queue/slice_plan.h"
#include "tests/unit/planning/snapshots.h"

namespace gpupool::planning {
namespace {

using test::at;
using test::make_waiting;

struct Replay {
  QueueSnapshot queue;
  std::vector<api::GpuJob> behind;              // the asker
  std::map<std::string, std::int64_t> seconds;  // how long each job holds its nodes; of holders: from now on
};

constexpr std::int64_t kReplayBegin = 1000;

int pick_from(int from, int to) { return *rc::gen::inRange(from, to + 1); }

api::GpuJob random_waiting(const std::string& name, bool sharing, bool alike) {
  const auto per_worker = alike || sharing ? 1 : pick_from(1, 2);
  auto job = make_waiting(name, per_worker * pick_from(1, sharing ? 2 : 3), pick_from(1, 500));
  job.spec.gpus_per_worker = per_worker;
  if (sharing) job.spec.slice.emplace().count = pick_from(1, 10);
  if (!alike && !sharing && pick_from(0, 3) == 0)
    job = test::with_template(job, R"("nodeSelector":{"zone":"b"})");
  if (!alike && !sharing && pick_from(0, 5) == 0) job.spec.nodes = {"n" + std::to_string(pick_from(0, 4))};
  return job;
}

std::vector<std::string> pick_nodes(std::vector<std::string>& free, std::size_t count) {
  std::vector<std::string> chosen;
  while (chosen.size() < count && !free.empty()) {
    const auto which = free.begin() + pick_from(0, static_cast<int>(free.size()) - 1);
    chosen.push_back(*which);
    free.erase(which);
  }
  return chosen;
}

Replay random_replay(bool sharing, bool alike) {
  auto pool = sharing ? test::make_sharing_pool() : test::make_pool();
  pool.spec.gpus.homogeneous = !sharing && pick_from(0, 1) == 1;
  if (!sharing) pool.spec.spares.emplace().nodes = pick_from(0, 2);
  test::SnapshotBuilder builder(pool);
  std::vector<std::string> free;
  const auto nodes = pick_from(1, 5);
  for (int i = 0; i < nodes; ++i) {
    const auto name = "n" + std::to_string(i);
    free.push_back(name);
    if (sharing) {
      builder.shared.push_back(test::make_shared_node(name, pool));
      continue;
    }
    auto node = test::make_node(name, alike ? 1 : pick_from(1, 4), alike || pick_from(0, 2) > 0 ? "A" : "B");
    if (pick_from(0, 1) == 0) node.metadata.labels["zone"] = "b";
    builder.nodes.push_back(test::make_pool_node(node));
  }
  Replay made;
  for (int i = 0; i < nodes && !free.empty(); ++i) {
    auto job = random_waiting("held" + std::to_string(i), sharing, alike);
    const auto began = pick_from(500, 1000);
    const auto deadline = *job.spec.active_deadline_seconds + kReplayBegin - began;  // not reached yet
    job.spec.active_deadline_seconds = deadline;
    const auto count = static_cast<std::size_t>(pick_from(1, 2));
    const auto name = job.metadata.name;
    builder.hold(std::move(job), pick_nodes(free, count), began, sharing ? pick_from(1, 10) : 0);
    made.seconds[name] = pick_from(0, static_cast<int>(began + deadline - kReplayBegin));
  }
  const auto add = [&](const std::string& name) {
    auto job = random_waiting(name, sharing, alike);
    made.seconds[name] = pick_from(0, static_cast<int>(*job.spec.active_deadline_seconds));
    return job;
  };
  std::vector<api::GpuJob> ahead;
  for (int i = 0; i < pick_from(0, 6); ++i) ahead.push_back(add("ahead" + std::to_string(i)));
  made.queue = builder.build(ahead, add("me"));
  for (int i = 0; i < pick_from(0, 4); ++i) {
    auto job = add("behind" + std::to_string(i));
    job.metadata.creation_timestamp = at(100);
    made.behind.push_back(std::move(job));
  }
  return made;
}

// Returns when the asker starts; nothing if it never does.
std::optional<base::WallTime> start_in(const Replay& made) {
  const auto& queue = made.queue;
  auto line = queue.line.copy_before(QueuePosition{0, base::WallTime::max(), 0, {}});
  std::uint64_t arrival = 100;
  for (const auto& job : made.behind) line.put(test::share(job), ++arrival);
  auto nodes = queue.nodes;
  std::multimap<base::WallTime, Holder> ends;
  std::multimap<std::string, std::int64_t> claims;
  for (const auto& holder : queue.holders) {
    ends.emplace(at(kReplayBegin + made.seconds.at(holder.job->metadata.name)), holder);
    for (const auto& ref : holder.nodes) claims.emplace(ref.name, holder.slices);
  }
  for (auto now = at(kReplayBegin);;) {
    std::map<api::ObjectKey, Verdict> granted;
    if (queue.pool->spec.sharing) {
      std::vector<SharedNode> now_shared;
      for (const auto& node : queue.shared) {
        auto& fresh = now_shared.emplace_back(test::make_shared_node(node.node.name, *queue.pool));
        const auto [first, last] = claims.equal_range(node.node.name);
        for (auto claim = first; claim != last; ++claim) add_claim(fresh, claim->second);
      }
      granted = plan_slices(*queue.pool, std::move(now_shared), line);
    } else {
      std::vector<const PoolNode*> members;
      for (const auto& node : nodes) members.push_back(&node);
      granted = QueuePlan(queue.pool, members, line).granted();
    }
    std::erase_if(granted, [](const auto& each) { return each.second.nodes.empty(); });
    if (granted.contains(queue.asker)) return now;
    for (const auto& [key, verdict] : granted) {
      const auto job = line.find(key)->job();
      ends.emplace(now + std::chrono::seconds(made.seconds.at(key.name)),
                   Holder{job, verdict.nodes, verdict.slices});
      line.remove(key);
      for (const auto& ref : verdict.nodes) {
        for (auto& node : nodes) node.leased = node.leased || node.name == ref.name;
        for (std::int64_t i = 0; i < ref.workers; ++i) claims.emplace(ref.name, verdict.slices);
      }
    }
    if (ends.empty()) return std::nullopt;
    now = ends.begin()->first;
    while (!ends.empty() && ends.begin()->first == now) {
      const auto holder = ends.begin()->second;
      for (const auto& ref : holder.nodes) {
        for (auto& node : nodes) node.leased = node.leased && node.name != ref.name;
        for (std::int64_t i = 0; i < std::max<std::int64_t>(1, ref.workers) && holder.slices > 0; ++i) {
          const auto [first, last] = claims.equal_range(ref.name);
          const auto mine =
              std::find_if(first, last, [&](const auto& each) { return each.second == holder.slices; });
          claims.erase(mine);
        }
      }
      ends.erase(ends.begin());
    }
  }
}

void check_latest(bool sharing, bool alike) {
  const auto made = random_replay(sharing, alike);
  Budget budget;
  const auto latest = latest_start(made.queue, at(kReplayBegin), budget);
  RC_ASSERT(latest.without_deadline == 0);
  const auto true_start = start_in(made);
  RC_CLASSIFY(true_start && *true_start > at(kReplayBegin), "waits");
  if (!true_start) {
    RC_ASSERT(!latest.at);
  } else {
    RC_ASSERT(latest.at.has_value());
    RC_ASSERT(*latest.at >= *true_start);
  }
}

RC_GTEST_PROP(LatestStart, IsNeverBeforeTheTrueStart, ()) { check_latest(false, false); }
RC_GTEST_PROP(LatestStart, IsNeverBeforeTheTrueStartOnEqualNodes, ()) { check_latest(false, true); }
RC_GTEST_PROP(LatestStart, IsNeverBeforeTheTrueStartOfSlices, ()) { check_latest(true, false); }

std::int64_t elapsed_of(const Holder& holder) {
  const auto began = *holder.job->status.start_time - at(0);
  return kReplayBegin - std::chrono::duration_cast<std::chrono::seconds>(began).count();
}

// Gives the job no deadline and a kind of its own. Two such jobs have ended before, each of which ran longer
// than the job until now; the job itself will run for a time between theirs. Returns the rest of this time.
std::int64_t give_history(api::GpuJob& job, std::int64_t elapsed, RunTimes& times) {
  job.spec.active_deadline_seconds.reset();
  job.spec.pool += "-" + job.metadata.name;
  const auto low = elapsed + pick_from(1, 300);
  const auto high = low + pick_from(0, 300);
  times.add(test::ended_job(job, low));
  times.add(test::ended_job(job, high));
  return pick_from(static_cast<int>(low), static_cast<int>(high)) - elapsed;
}

// On equal nodes nobody starts later because another ends earlier.
RC_GTEST_PROP(LikelyStart, CoversTheTrueStartIfJobsRunAsTheyDid, ()) {
  auto made = random_replay(false, true);
  RunTimes times;
  for (auto& holder : made.queue.holders) {
    auto job = *holder.job;
    made.seconds[job.metadata.name] = give_history(job, elapsed_of(holder), times);
    holder.job = test::share(job);
  }
  std::uint64_t arrival = 0;
  for (const auto& each : made.queue.line.in_order()) {
    auto job = *each;
    made.seconds[job.metadata.name] = give_history(job, 0, times);
    ++job.metadata.generation;  // so that the line reads it anew
    made.queue.line.put(test::share(job), ++arrival);
  }
  Budget budget;
  const auto likely = likely_start(made.queue, times.by_kind(), at(kReplayBegin), budget);
  const auto true_start = start_in(made);
  RC_CLASSIFY(true_start && *true_start > at(kReplayBegin), "waits");
  RC_ASSERT(likely.from.has_value() == true_start.has_value());
  if (!true_start) return;
  RC_ASSERT(*likely.from <= *true_start);
  RC_ASSERT(*likely.to >= *true_start);
}

}  // namespace
}  // namespace gpupool::planning
