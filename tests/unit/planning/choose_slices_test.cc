// SPDX-License-Identifier: Apache-2.0
#include "planning/slices/choose_slices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using testing::IsEmpty;
using Refs = std::vector<api::NodeRef>;

class ChooseSlices : public testing::Test {
 protected:
  // Adds a node whose GPUs have these numbers of free slices, out of `split`.
  void add(const std::string& name, const std::vector<std::int64_t>& free, std::int64_t split = 10,
           const std::string& model = "A") {
    auto report = test::make_report(name, static_cast<std::int64_t>(free.size()), split);
    for (std::size_t i = 0; i < free.size(); ++i) {
      report.status.gpus[i].model = model;
      if (free[i] < split) test::show_pod(report, i, "other", split - free[i]);
    }
    const auto all = static_cast<std::int64_t>(free.size()) * split;
    nodes_.push_back(
        describe_shared_node(test::make_shared_member(name, all), &report, test::make_sharing_pool(), {}));
  }
  Refs choose(std::int64_t slices, std::int64_t workers) const {
    SliceNeed need;
    need.count = slices;
    return choose(need, workers, false);
  }
  Refs choose(const SliceNeed& need, std::int64_t workers, bool one_model) const {
    const auto choice = choose_slices(pointers(), need, workers, one_model);
    return choice ? choice->nodes : Refs();
  }
  std::vector<const SharedNode*> pointers() const {
    std::vector<const SharedNode*> all;
    for (const auto& node : nodes_) all.push_back(&node);
    return all;
  }

  std::vector<SharedNode> nodes_;
};

TEST_F(ChooseSlices, PacksIntoTheFullestNode) {
  add("a", {10});
  add("b", {4});
  add("c", {2});
  EXPECT_EQ(choose(1, 1), (Refs{{"c", "uid-c", 1}}));
  EXPECT_EQ(choose(3, 1), (Refs{{"b", "uid-b", 1}}));
  EXPECT_EQ(choose(5, 1), (Refs{{"a", "uid-a", 1}}));
  EXPECT_EQ(choose(2, 5), (Refs{{"a", "uid-a", 5}})) << "one node for all of them";
}

TEST_F(ChooseSlices, TakesTheFirstNameOfLikeNodes) {
  add("b", {10});
  add("a", {10});
  EXPECT_EQ(choose(3, 1), (Refs{{"a", "uid-a", 1}}));
}

TEST_F(ChooseSlices, SeveralNodesReserveAsManyAsTheSchedulerMayPutThere) {
  add("a", {6});
  add("b", {6});
  add("c", {6});
  EXPECT_EQ(choose(3, 4), (Refs{{"a", "uid-a", 2}, {"b", "uid-b", 2}}));
  EXPECT_EQ(choose(3, 5), (Refs{{"a", "uid-a", 2}, {"b", "uid-b", 2}, {"c", "uid-c", 2}}));
  EXPECT_THAT(choose(3, 7), IsEmpty());
}

TEST_F(ChooseSlices, NeverSplitsAWorker) {
  add("a", {2, 2});
  add("b", {2});
  EXPECT_THAT(choose(3, 1), IsEmpty());
}

TEST_F(ChooseSlices, AllWorkersGetTheSameNumberOfSlices) {
  add("a", {3}, 10);
  add("b", {4}, 5);
  SliceNeed need;
  need.memory = std::int64_t{3200} * 1024 * 1024;  // two slices of a, one of b
  EXPECT_EQ(choose(need, 4, false), (Refs{{"b", "uid-b", 4}}));
  EXPECT_THAT(choose(need, 5, false), IsEmpty()) << "one on a and four on b would not be alike";
}

TEST_F(ChooseSlices, OneModelOnly) {
  add("a", {1}, 10, "A");
  add("b", {1}, 10, "B");
  SliceNeed need;
  need.count = 1;
  EXPECT_EQ(choose(need, 2, false).size(), 2U);
  EXPECT_THAT(choose(need, 2, true), IsEmpty());
}

TEST_F(ChooseSlices, NamedNodesAreTakenExactly) {
  add("a", {10});
  add("b", {3});
  SliceNeed need;
  need.count = 2;
  EXPECT_EQ(place_slices(pointers(), need, 2, false)->nodes, (Refs{{"a", "uid-a", 1}, {"b", "uid-b", 1}}));
  EXPECT_FALSE(place_slices(pointers(), need, 3, false).has_value());
  need.count = 4;
  EXPECT_FALSE(place_slices(pointers(), need, 2, false).has_value());
}

}  // namespace
}  // namespace gpupool::planning
