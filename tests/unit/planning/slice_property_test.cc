// SPDX-License-Identifier: Apache-2.0
// Many jobs on shared GPUs. The operator gets the changes late and in any order, but whatever it grants, the
// kubelet has a GPU for each worker that arrives.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "planning/queue/slice_plan.h"
#include "planning/slices/free_slices.h"
#include "tests/support/whole_queue.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

constexpr int kSteps = 400;

struct Worker {
  std::string job;
  std::string node;
  std::int64_t slices = 0;
  std::map<std::size_t, std::int64_t> on;  // GPU -> slices, the true state
  bool ended = false;
  bool seen_bound = false;
  bool seen_ended = false;
};

struct Held {
  std::int64_t workers = 0;
  std::int64_t slices = 0;
  std::vector<api::NodeRef> nodes;
};

// The true state, and the state that the operator knows.
class SharedWorld {
 public:
  SharedWorld() {
    const auto nodes = *rc::gen::inRange(1, 4);
    for (int i = 0; i < nodes; ++i) {
      const auto name = "n" + std::to_string(i);
      gpus_[name] = static_cast<std::size_t>(*rc::gen::inRange(1, 4));
      known_[name] = snapshot(name);
    }
  }

  void step() {
    // Weights: frequent for normal steps, low for rare events.
    switch (*rc::gen::weightedElement<int>(
        {{3, 0}, {3, 1}, {5, 2}, {1, 3}, {2, 4}, {3, 5}, {2, 6}, {6, 7}, {3, 8}})) {
      case 0:
        return submit();
      case 1:
        return plan();
      case 2:
        return bind();
      case 3:
        sent_.erase(pick_node());
        return;  // the report is lost
      case 4:
        return send();
      case 5:
        return deliver();
      case 6:
        return end_one();
      case 7:
        return tell_one();
      default:
        return release();
    }
  }
  std::int64_t granted() const { return granted_; }

 private:
  std::string pick_node() const {
    return "n" + std::to_string(*rc::gen::inRange<std::size_t>(0, gpus_.size()));
  }

  std::int64_t used(const std::string& node, std::size_t gpu) const {
    std::int64_t sum = 0;
    for (const auto& [name, worker] : workers_) {
      if (worker.node == node && !worker.ended && worker.on.contains(gpu)) sum += worker.on.at(gpu);
    }
    return sum;
  }

  api::GpuNode snapshot(const std::string& node) const {
    auto report = test::make_report(node, static_cast<std::int64_t>(gpus_.at(node)), split_);
    for (const auto& [name, worker] : workers_) {
      if (worker.node != node || worker.ended) continue;
      for (const auto& [gpu, slices] : worker.on) test::show_pod(report, gpu, name, slices);
    }
    return report;
  }

  void submit() {
    if (queue_.size() > 3) return;
    auto job = test::make_job("j" + std::to_string(++last_job_), *rc::gen::inRange(1, 4));
    job.metadata.creation_timestamp = test::at(last_job_);
    const auto slices = *rc::gen::inRange<std::int64_t>(0, split_ + 1);
    if (slices > 0) {
      job.spec.slice = api::JobSlice{"", {}, slices};
    } else if (*rc::gen::arbitrary<bool>()) {
      job.spec.gpus_per_worker = job.spec.gpus;
    }
    queue_.push_back(test::share(job));
  }

  std::vector<SharedNode> as_known() const {
    std::vector<SharedNode> nodes;
    for (const auto& [name, count] : gpus_) {
      Occupants occupants;
      std::map<std::string, std::int64_t> bound;
      for (const auto& [pod, worker] : workers_) {
        if (worker.node != name) continue;
        if (worker.seen_ended) {
          occupants.ended.insert({"ns", pod});
        } else if (worker.seen_bound) {
          occupants.pods.push_back({"ns", pod, worker.slices});
          ++bound[worker.job];
        }
      }
      for (const auto& [job, held] : held_) {
        for (const auto& ref : held.nodes) {
          if (ref.name != name) continue;
          for (auto i = bound[job]; i < ref.workers; ++i) occupants.reserved.push_back(held.slices);
        }
      }
      const auto all = static_cast<std::int64_t>(count) * split_;
      nodes.push_back(
          describe_shared_node(test::make_shared_member(name, all), &known_.at(name), pool_, occupants));
    }
    return nodes;
  }

  void plan() {
    const auto verdicts = plan_slices(pool_, as_known(), test::line_of(queue_));
    std::erase_if(queue_, [&](const auto& job) {
      const auto& verdict = verdicts.at(job->metadata.key());
      if (verdict.nodes.empty()) return false;
      held_[job->metadata.name] = {api::worker_count(job->spec), verdict.slices, verdict.nodes};
      ++granted_;
      return true;
    });
  }

  std::int64_t count(const std::string& job, const std::string& node) const {
    return std::count_if(workers_.begin(), workers_.end(), [&](const auto& entry) {
      return entry.second.job == job && (node.empty() || entry.second.node == node);
    });
  }

  // Binds a worker to any node with a reserved place, and to any GPU there.
  void bind() {
    std::vector<std::pair<std::string, std::string>> open;
    for (const auto& [job, held] : held_) {
      if (count(job, "") >= held.workers) continue;
      for (const auto& ref : held.nodes) {
        if (count(job, ref.name) < ref.workers) open.emplace_back(job, ref.name);
      }
    }
    if (open.empty()) return;
    const auto [job, node] = *rc::gen::elementOf(open);
    Worker worker;
    worker.job = job;
    worker.node = node;
    worker.slices = held_[job].slices;
    const auto gpus = std::max<std::int64_t>(1, worker.slices / split_);
    const auto each = worker.slices / gpus;
    std::vector<std::size_t> fit;
    for (std::size_t gpu = 0; gpu < gpus_[node]; ++gpu) {
      if (split_ - used(node, gpu) >= each) fit.push_back(gpu);
    }
    RC_ASSERT(static_cast<std::int64_t>(fit.size()) >= gpus);
    for (std::int64_t i = 0; i < gpus; ++i) {
      const auto gpu = *rc::gen::elementOf(fit);
      worker.on[gpu] = each;
      std::erase(fit, gpu);
    }
    workers_[job + "-" + std::to_string(count(job, ""))] = worker;
  }

  // A report is made at one moment and arrives at another.
  void send() {
    const auto node = pick_node();
    if (!sent_[node]) sent_[node] = snapshot(node);
  }

  void deliver() {
    auto& report = sent_[pick_node()];
    if (report) known_[report->metadata.name] = *std::exchange(report, std::nullopt);
  }

  Worker* pick(const std::function<bool(const Worker&)>& wanted) {
    std::vector<std::string> names;
    for (const auto& [name, worker] : workers_) {
      if (wanted(worker)) names.push_back(name);
    }
    return names.empty() ? nullptr : &workers_[*rc::gen::elementOf(names)];
  }

  void end_one() {
    if (auto* worker = pick([](const Worker& any) { return !any.ended; })) worker->ended = true;
  }

  void tell_one() {
    auto* worker = pick([](const Worker& any) { return !any.seen_bound || (any.ended && !any.seen_ended); });
    if (worker == nullptr) return;
    if (worker->seen_bound) worker->seen_ended = true;
    worker->seen_bound = true;
  }

  // A job whose workers have all been seen to end gives its slices back.
  void release() {
    std::erase_if(held_, [&](const auto& entry) {
      const auto& [job, held] = entry;
      std::int64_t over = 0;
      for (const auto& [name, worker] : workers_) {
        if (worker.job == job && worker.seen_ended) ++over;
      }
      return over == held.workers;
    });
  }

  api::GpuPool pool_ = test::make_sharing_pool();
  std::int64_t split_ = *rc::gen::inRange(1, 7);
  std::map<std::string, std::size_t> gpus_;
  std::map<std::string, Worker> workers_;
  std::map<std::string, Held> held_;
  std::map<std::string, api::GpuNode> known_;
  std::map<std::string, std::optional<api::GpuNode>> sent_;
  std::vector<std::shared_ptr<const api::GpuJob>> queue_;
  std::int64_t last_job_ = 0;
  std::int64_t granted_ = 0;
};

RC_GTEST_PROP(SliceProperty, NoOrderOfEventsOverbooksAGpu, ()) {
  SharedWorld world;
  for (int i = 0; i < kSteps; ++i) world.step();
  RC_CLASSIFY(world.granted() > 5, "many grants");
}

RC_GTEST_PROP(SliceProperty, WithoutDoubtEveryPlaceIsUsed, ()) {
  SharedNode node;
  const auto split = *rc::gen::inRange<std::int64_t>(1, 20);
  const auto slices = *rc::gen::inRange<std::int64_t>(1, split + 1);
  std::int64_t places = 0;
  for (int i = 0; i < *rc::gen::inRange(1, 9); ++i) {
    SharedGpu gpu;
    gpu.size.count = gpu.healthy_slices = split;
    gpu.free = *rc::gen::inRange<std::int64_t>(0, split + 1);
    places += gpu.free / slices;
    node.gpus.push_back(gpu);
    node.advertised += gpu.free;
  }
  RC_ASSERT(room_for(node, {slices, 1}) == places);
}

}  // namespace
}  // namespace gpupool::planning
