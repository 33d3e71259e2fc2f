// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

#include "slices/saved_table.h"
#include "tests/unit/device-plugin/slices/builders.h"

namespace gpupool::slices {
namespace {

constexpr std::int64_t kGpus = 3;
constexpr std::int64_t kMemory = 1000;

// What a container got with a device, for as long as it runs.
struct Held {
  std::string gpu;
  std::int64_t memory_mib = 0;
  std::int64_t cores = 0;
  settings::Milli memory_scaling = 0;  // of the cut it came from
};

// A node: the kubelet hands out what the last table says is healthy and free.
class Node {
 public:
  void step(int operation, int number) {
    switch (operation) {
      case 0:
        reconfigure(number);
        break;
      case 1:
        toggle_health(number);
        break;
      case 2:
        start_pod(number);
        break;
      case 3:
        end_pod(number);
        break;
      case 4:
        restart_plugin();
        break;
      case 5:
        replan({}, false);
        break;
      case 6:  // podresources is read, then a pod starts, then the plan is made
        replan_after_race(number);
        break;
      default:
        replan(in_use(), true);
    }
    check();
  }

 private:
  void reconfigure(int number) {
    static constexpr std::array<std::int64_t, 5> kCounts{1, 2, 3, 5, 10};
    static constexpr std::array<settings::Milli, 4> kScalings{1000, 500, 1500, 2000};
    const auto n = static_cast<std::size_t>(number);
    settings_ = test::split(kCounts[n % kCounts.size()], kScalings[n / 5 % kScalings.size()], 1000);
    if (number % 7 == 3) settings_.resource_name = "example.com/gpu";
    if (number % 3 == 1) {
      settings_.overrides = {{.match = {.node = "", .uuid = "", .model = "", .index = number % kGpus},
                              .count = 4,
                              .memory_scaling = 1000,
                              .core_scaling = {}}};
    }
  }
  void toggle_health(int number) {
    const std::string uuid = test::uuid(number % kGpus);
    if (unhealthy_.erase(uuid) == 0) unhealthy_[uuid] = "Xid79";
  }
  void start_pod(int number) {
    std::vector<const Slice*> free;
    for (const Resource& resource : table_.resources) {
      for (const Slice& slice : resource.slices) {
        if (slice.healthy && !held_.contains(slice.id)) free.push_back(&slice);
      }
    }
    if (free.empty()) return;
    const Slice& slice = *free[static_cast<std::size_t>(number) % free.size()];
    held_[slice.id] = {slice.gpu, slice.memory_mib, slice.cores, scaling_of_.at(slice.gpu)};
  }
  void end_pod(int number) {
    if (held_.empty()) return;
    held_.erase(std::next(held_.begin(), number % static_cast<int>(held_.size())));
  }
  void restart_plugin() {
    const auto restored = restore(save(table_));
    RC_ASSERT(restored.has_value());
    table_ = *restored;
    replan(in_use(), true);
  }
  void replan_after_race(int number) {
    const std::set<std::string> seen = in_use();
    start_pod(number);
    replan(seen, true);
  }
  std::set<std::string> in_use() const {
    std::set<std::string> ids;
    for (const auto& [id, held] : held_) ids.insert(id);
    return ids;
  }
  void replan(std::set<std::string> in_use, bool known) {
    Circumstances circumstances{"gpu-1", unhealthy_, std::move(in_use), known, table_, test::kNames};
    const Planned planned = test::plan(test::machine(kGpus, kMemory), settings_, circumstances);
    for (std::int64_t i = 0; i < kGpus; ++i) note_scaling(planned.table, test::gpu(i, kMemory));
    table_ = planned.table;
    // A plan that has nothing to wait for has what the settings want.
    if (planned.waiting) return;
    Circumstances fresh{"gpu-1", unhealthy_, {}, true, {}, test::kNames};
    RC_ASSERT(planned.table == test::plan(test::machine(kGpus, kMemory), settings_, fresh).table);
  }
  // The scaling that the cut in the table was made with: the new one as soon as the slices are the new ones.
  void note_scaling(const Table& table, const inventory::Gpu& gpu) {
    const settings::Split split = split_of(settings_, "gpu-1", gpu);
    const auto wanted = cut(kMemory, split);
    std::int64_t slices = 0;
    bool as_wanted = wanted.has_value();
    for (const Resource& resource : table.resources) {
      for (const Slice& slice : resource.slices) {
        if (slice.gpu != gpu.uuid) continue;
        ++slices;
        as_wanted = as_wanted && slice.memory_mib == wanted->memory_mib && slice.cores == wanted->cores;
      }
    }
    if (as_wanted && slices == split.count) scaling_of_[gpu.uuid] = split.memory_scaling;
  }

  // What is held and what is on offer beside it never exceed the GPU times the scaling that both came from.
  void check() const {
    for (std::int64_t i = 0; i < kGpus; ++i) {
      const std::string uuid = test::uuid(i);
      std::int64_t memory = 0;
      std::int64_t cores = 0;
      std::set<settings::Milli> scalings;
      for (const auto& [id, held] : held_) {
        if (held.gpu != uuid) continue;
        memory += held.memory_mib;
        cores += held.cores;
        scalings.insert(held.memory_scaling);
        const Slice* listed = test::find_slice(table_, id);
        RC_ASSERT(listed != nullptr);
        RC_ASSERT(listed->memory_mib == held.memory_mib);
      }
      for (const Resource& resource : table_.resources) {
        for (const Slice& slice : resource.slices) {
          if (slice.gpu != uuid || !slice.healthy || held_.contains(slice.id)) continue;
          memory += slice.memory_mib;
          cores += slice.cores;
          scalings.insert(scaling_of_.at(uuid));
        }
      }
      RC_ASSERT(scalings.size() <= 1U);
      if (!scalings.empty()) RC_ASSERT(memory * 1000 <= kMemory * *scalings.begin());
      RC_ASSERT(cores <= 100);
    }
  }

  settings::Settings settings_ = test::split(10);
  std::map<std::string, std::string> unhealthy_;
  std::map<std::string, Held> held_;
  std::map<std::string, settings::Milli> scaling_of_;
  Table table_;
};

RC_GTEST_PROP(PlanProperty, NoSequenceOfChangesOverCommitsAGpu, ()) {
  const auto steps = *rc::gen::scale(
      4.0,
      rc::gen::container<std::vector<std::pair<int, int>>>(rc::gen::pair(
          rc::gen::weightedElement<int>({{2, 0}, {1, 1}, {8, 2}, {6, 3}, {1, 4}, {1, 5}, {3, 6}, {6, 7}}),
          rc::gen::inRange(0, 1000))));
  Node node;
  node.step(7, 0);
  for (const auto& [operation, number] : steps) node.step(operation, number);
}

}  // namespace
}  // namespace gpupool::slices
