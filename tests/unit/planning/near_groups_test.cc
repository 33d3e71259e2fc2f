// SPDX-License-Identifier: Apache-2.0
// Gangs on nodes that are near each other (spec.near).
#include "planning/nodes/near_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <set>

#include "api/v1alpha1/reasons.h"
#include "planning/queue/replace_nodes.h"
#include "tests/support/whole_queue.h"
#include "tests/unit/planning/builders.h"
#include "tests/unit/planning/waits.h"

namespace gpupool::planning {
namespace {

using test::share;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace reason = api::reason;

// rack: "" for a node without the label.
PoolNode racked(const std::string& name, const std::string& rack, const std::string& zone,
                std::int64_t gpus = 1) {
  auto node = test::make_node(name, gpus);
  if (!rack.empty()) node.metadata.labels["rack"] = rack;
  if (!zone.empty()) node.metadata.labels["zone"] = zone;
  return test::make_pool_node(std::move(node));
}

class NearGang : public testing::Test {
 protected:
  void add_node(const std::string& name, const std::string& rack, const std::string& zone = "z",
                std::int64_t gpus = 1) {
    nodes_.push_back(racked(name, rack, zone, gpus));
  }
  api::GpuJob& add(const std::string& name, std::int64_t gpus, bool required = false,
                   std::vector<std::string> labels = {"rack", "zone"}) {
    auto job = test::make_job(name, gpus);
    job.metadata.creation_timestamp = test::at(static_cast<std::int64_t>(jobs_.size()));
    job.spec.near = api::Near{std::move(labels), required};
    jobs_.push_back(std::make_shared<api::GpuJob>(std::move(job)));
    return *jobs_.back();
  }
  Verdict verdict(const std::string& name) const {
    return test::plan_queue(pool_, nodes_, test::line_of({jobs_.begin(), jobs_.end()})).at({"ns", name});
  }
  std::vector<std::string> nodes_of(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& ref : verdict(name).nodes) names.push_back(ref.name);
    return names;
  }

  api::GpuPool pool_ = test::make_pool();
  std::vector<PoolNode> nodes_;
  std::vector<std::shared_ptr<api::GpuJob>> jobs_;
};

TEST_F(NearGang, GetsOneRackAndNotTheFirstNames) {
  add_node("a", "r1");
  add_node("b", "r2");
  add_node("c", "r2");
  add("gang", 2);
  EXPECT_THAT(nodes_of("gang"), ElementsAre("b", "c"));
}

TEST_F(NearGang, LeavesTheLargeRackWhole) {
  for (const auto* name : {"a", "b", "c"}) add_node(name, "large");
  for (const auto* name : {"d", "e"}) add_node(name, "small");
  add("gang", 2);
  EXPECT_THAT(nodes_of("gang"), ElementsAre("d", "e"));
}

TEST_F(NearGang, PrefersOneZoneWithTwoRacksToTwoZones) {
  add_node("a", "r1", "z1");
  add_node("b", "r1", "z1");
  add_node("c", "r2", "z2");
  add_node("d", "r3", "z2");
  add_node("e", "r3", "z2");
  add("gang", 3);
  EXPECT_THAT(nodes_of("gang"), ElementsAre("c", "d", "e"));
}

TEST_F(NearGang, TakesTheFewestRacksIfOneIsTooSmall) {
  add_node("a", "r1");
  add_node("b", "r2");
  add_node("c", "r3");
  add_node("d", "r3");
  add("gang", 3, false, {"rack"});
  EXPECT_THAT(nodes_of("gang"), ElementsAre("a", "c", "d"));
}

TEST_F(NearGang, NodesWithoutTheLabelAreNearNoOther) {
  add_node("a", "");
  add_node("b", "");
  add_node("c", "r");
  add_node("d", "r");
  add("gang", 2, true, {"rack"});
  EXPECT_THAT(nodes_of("gang"), ElementsAre("c", "d"));
}

TEST_F(NearGang, GoesFarAtOnceUnlessItIsRequired) {
  add_node("a", "r1");
  add_node("b", "r1");
  add_node("c", "r2");
  nodes_[0].leased = true;
  add("gang", 2, false, {"rack"});
  EXPECT_THAT(nodes_of("gang"), ElementsAre("b", "c"));
}

TEST_F(NearGang, WaitsForTheRackThatIsRequiredAndKeepsNoOther) {
  add_node("a", "r1");
  add_node("b", "r1");
  add_node("c", "r2");
  nodes_[0].leased = true;
  add("gang", 2, true, {"rack"});
  EXPECT_THAT(verdict("gang"), test::WaitsAsFirst());
  EXPECT_THAT(verdict("gang").message, HasSubstr("2 workers with 1 GPU each on nodes with the same rack"));
  auto& small = add("small", 1);
  small.spec.near.reset();
  EXPECT_THAT(nodes_of("small"), ElementsAre("c")) << "rack r2 is too small for the gang";
  nodes_[2].leased = true;
  EXPECT_THAT(verdict("small"), test::WaitsBehindOthers()) << "b is reserved";
}

TEST_F(NearGang, RequiresOnlyTheLastLabel) {
  add_node("a", "r1", "z1");
  add_node("b", "r2", "z1");
  add_node("c", "r3", "z2");
  add("gang", 2, true);
  EXPECT_THAT(nodes_of("gang"), ElementsAre("a", "b"));
  add("large", 3, true);
  EXPECT_EQ(verdict("large").reason, reason::kTooLarge);
  EXPECT_THAT(verdict("large").message,
              HasSubstr("too small for 3 workers with 1 GPU each on nodes with the same zone: there is room "
                        "for 2"));
}

TEST_F(NearGang, SaysWhatOnlyNodesThatAreAwayCouldHold) {
  add_node("a", "r1");
  add_node("b", "r1");
  add_node("c", "r2");
  nodes_[0].cordoned = true;
  add("gang", 2, true, {"rack"});
  EXPECT_THAT(verdict("gang"), test::waits_with(HasSubstr("only with nodes that are not ready, cordoned")));
}

TEST_F(NearGang, IsOfOneModelInAHomogeneousPool) {
  pool_.spec.gpus.homogeneous = true;
  add_node("a", "r1");
  add_node("b", "r2");
  add_node("c", "r3");
  add_node("d", "r3");
  nodes_[2].model = nodes_[3].model = "B";
  add("gang", 2, false, {"rack"});
  EXPECT_THAT(nodes_of("gang"), ElementsAre("c", "d")) << "both models have room, one in fewer racks";
}

TEST_F(NearGang, OneWorkerIsNearItself) {
  add_node("a", "");
  add("one", 1, true);
  EXPECT_THAT(nodes_of("one"), ElementsAre("a"));
}

TEST(NearOf, IsThatOfTheJobBeforeThatOfThePool) {
  auto job = test::make_job("job", 2);
  const api::Near of_pool{{"zone"}, true};
  EXPECT_EQ(near_of(job.spec, of_pool), of_pool);
  EXPECT_EQ(near_of(job.spec, std::nullopt), api::Near());
  job.spec.near = api::Near{{"rack"}};
  EXPECT_EQ(near_of(job.spec, of_pool), api::Near{{"rack"}});
  job.spec.near = api::Near{{}, true};
  EXPECT_EQ(near_of(job.spec, of_pool), api::Near()) << "an empty list means anywhere";
  job.spec.near.reset();
  job.spec.nodes = {"a", "b"};
  EXPECT_EQ(near_of(job.spec, of_pool), api::Near()) << "the job has named its nodes";
}

TEST(ReplaceNodes, StaysNearTheNodesThatAreKept) {
  auto pool = test::make_pool();
  pool.spec.near = api::Near{{"rack", "zone"}};
  std::vector<PoolNode> nodes = {racked("a", "r1", "z1"), racked("b", "r2", "z2"), racked("c", "r3", "z1"),
                                 racked("d", "r1", "z1")};
  nodes[0].leased = true;
  const auto job = test::make_job("job", 2);
  const auto names = [&] {
    std::vector<std::string> all;
    for (const auto& ref : replace_nodes(pool, nodes, job, {"a"})) all.push_back(ref.name);
    return all;
  };
  EXPECT_THAT(names(), ElementsAre("a", "d")) << "the same rack";
  nodes[3].leased = true;
  EXPECT_THAT(names(), ElementsAre("a", "c")) << "the same zone";
  nodes[2].leased = true;
  EXPECT_THAT(names(), ElementsAre("a", "b")) << "anywhere";
  pool.spec.near->required = true;
  EXPECT_THAT(names(), IsEmpty());
}

TEST(NearSlices, AreInOneRack) {
  const auto pool = test::make_sharing_pool();
  std::vector<SharedNode> nodes;
  for (const auto& [name, rack] : {std::pair("a", "r1"), std::pair("b", "r2"), std::pair("c", "r2")}) {
    auto member = test::make_shared_member(name, 10);
    member.metadata.labels["rack"] = rack;
    const auto report = test::make_report(name, 1);
    nodes.push_back(describe_shared_node(member, &report, pool, {}));
    nodes.back().node.object = share(member);
  }
  auto job = test::make_job("gang", 2);
  job.spec.slice = api::JobSlice{"", {}, 10};
  job.spec.near = api::Near{{"rack"}, true};
  const auto verdict = [&](const api::GpuJob& asked) {
    return plan_slices(pool, nodes, test::line_of({share(asked)})).at({"ns", "gang"});
  };
  ASSERT_EQ(verdict(job).nodes.size(), 2U);
  EXPECT_EQ(verdict(job).nodes[0].name, "b");
  EXPECT_EQ(verdict(job).nodes[1].name, "c");
  add_claim(nodes[1], 10);
  EXPECT_THAT(verdict(job), test::waits_with(HasSubstr("10 slices each on nodes with the same rack")));
  job.spec.gpus = 3;
  EXPECT_EQ(verdict(job).reason, reason::kTooLarge);
}

struct Spread {
  std::size_t zones, racks;
  std::int64_t gpus;
  std::size_t nodes;
};

Spread spread_of(const std::vector<const PoolNode*>& nodes) {
  std::set<std::string> zones, racks;
  Spread spread{0, 0, 0, nodes.size()};
  for (const auto* node : nodes) {
    zones.insert(node->labels().at("zone"));
    racks.insert(node->labels().at("rack"));
    spread.gpus += node->gpus;
  }
  spread.zones = zones.size();
  spread.racks = racks.size();
  return spread;
}

// Tries every subset of the nodes.
std::optional<Spread> nearest(const std::vector<PoolNode>& nodes, std::int64_t workers, bool required) {
  const auto rank = [](const Spread& spread) {
    return std::tie(spread.zones, spread.racks, spread.gpus, spread.nodes);
  };
  std::optional<Spread> best;
  for (unsigned subset = 1; subset < (1U << nodes.size()); ++subset) {
    std::vector<const PoolNode*> some;
    std::int64_t slots = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if ((subset >> i & 1U) == 0) continue;
      some.push_back(&nodes[i]);
      slots += nodes[i].gpus;
    }
    const auto spread = spread_of(some);
    if (slots < workers || (required && spread.zones > 1)) continue;
    if (!best || rank(spread) < rank(*best)) best = spread;
  }
  return best;
}

RC_GTEST_PROP(NearProperty, NoChoiceHasFewerGroups, ()) {
  constexpr std::array<const char*, 5> kZoneOfRack = {"z0", "z0", "z1", "z1", "z2"};
  std::vector<PoolNode> nodes;
  for (int i = 0; i < *rc::gen::inRange(1, 9); ++i) {
    const auto rack = *rc::gen::inRange<std::size_t>(0, kZoneOfRack.size());
    nodes.push_back(racked("n" + std::to_string(i), "r" + std::to_string(rack), kZoneOfRack[rack],
                           *rc::gen::inRange(1, 4)));
  }
  auto job = test::make_job("gang", *rc::gen::inRange(2, 9));
  job.spec.near = api::Near{{"rack", "zone"}, *rc::gen::arbitrary<bool>()};
  const auto verdict =
      test::plan_queue(test::make_pool(), nodes, test::line_of({share(job)})).at({"ns", "gang"});
  const auto best = nearest(nodes, job.spec.gpus, job.spec.near->required);
  RC_ASSERT(verdict.nodes.empty() == !best.has_value());
  if (!best) return;
  std::vector<const PoolNode*> chosen;
  for (const auto& node : nodes) {
    for (const auto& ref : verdict.nodes) {
      if (ref.name == node.name) chosen.push_back(&node);
    }
  }
  const auto spread = spread_of(chosen);
  RC_ASSERT(spread.zones == best->zones);
  if (best->zones == 1) RC_ASSERT(spread.racks == best->racks);
  if (best->zones == 1 && best->racks == 1) {
    RC_ASSERT(spread.gpus == best->gpus);
    RC_ASSERT(spread.nodes == best->nodes);
  }
}

}  // namespace
}  // namespace gpupool::planning
