// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/node_needs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/nodes/label_match.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using testing::HasSubstr;

NodeNeeds needs(const std::string& pod, const std::string& container = "") {
  return needs_of(test::with_template(test::make_job(), pod, container).spec, test::kGpus);
}

// The required node affinity with these terms.
NodeNeeds affinity(const std::string& terms) {
  return needs(R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
    {"nodeSelectorTerms":[)" +
               terms + "]}}}");
}

std::string term(const std::string& key, const std::string& op, const std::string& values = "") {
  return R"({"matchExpressions":[{"key":")" + key + R"(","operator":")" + op + R"(","values":[)" + values +
         "]}]}";
}

PoolNode labelled(const std::string& name, const Labels& labels) {
  auto node = test::make_node(name);
  node.metadata.labels = labels;
  return test::make_pool_node(std::move(node));
}

TEST(NodeNeeds, AreEmptyForATemplateThatAsksNothing) {
  EXPECT_EQ(needs(""), NodeNeeds());
  EXPECT_EQ(needs("", R"("resources":{"limits":{"nvidia.com/gpu":"8"}})"), NodeNeeds())
      << "gpupool sets the GPUs itself";
  EXPECT_EQ(affinity("{}"), NodeNeeds()) << "gpupool adds a requirement, so the term matches any node";
  EXPECT_FALSE(needs("").narrow());
  api::GpuJobSpec broken;
  broken.pod_template.text = "[";
  EXPECT_EQ(needs_of(broken, test::kGpus), NodeNeeds());
}

TEST(NodeNeeds, NodeSelectorNamesAllLabels) {
  const auto both = needs(R"("nodeSelector":{"zone":"b","disk":"ssd"})");
  EXPECT_TRUE(both.narrow());
  EXPECT_TRUE(suits(labelled("n", {{"zone", "b"}, {"disk", "ssd"}, {"x", "y"}}), both));
  EXPECT_FALSE(suits(labelled("n", {{"zone", "b"}}), both));
  EXPECT_FALSE(suits(labelled("n", {{"zone", "b"}, {"disk", "hdd"}}), both));
}

TEST(NodeNeeds, EveryOperatorOfNodeAffinity) {
  const auto node = labelled("n", {{"zone", "b"}, {"cores", "32"}});
  EXPECT_TRUE(suits(node, affinity(term("zone", "In", R"("a","b")"))));
  EXPECT_FALSE(suits(node, affinity(term("zone", "In", R"("a")"))));
  EXPECT_FALSE(suits(node, affinity(term("zone", "NotIn", R"("b")"))));
  EXPECT_TRUE(suits(node, affinity(term("none", "NotIn", R"("b")"))));
  EXPECT_TRUE(suits(node, affinity(term("zone", "Exists"))));
  EXPECT_FALSE(suits(node, affinity(term("zone", "DoesNotExist"))));
  EXPECT_TRUE(suits(node, affinity(term("none", "DoesNotExist"))));
  EXPECT_TRUE(suits(node, affinity(term("cores", "Gt", R"("16")"))));
  EXPECT_FALSE(suits(node, affinity(term("cores", "Gt", R"("32")"))));
  EXPECT_TRUE(suits(node, affinity(term("cores", "Lt", R"("33")"))));
  EXPECT_FALSE(suits(node, affinity(term("zone", "Lt", R"("33")")))) << "not a number";
  EXPECT_FALSE(suits(node, affinity(term("none", "Gt", R"("16")"))));
  EXPECT_FALSE(suits(node, affinity(term("zone", "Like", R"("b")"))));
}

TEST(NodeNeeds, OneOfTheTermsSuffices) {
  const auto either = affinity(term("zone", "In", R"("a")") + "," + term("disk", "Exists"));
  EXPECT_TRUE(suits(labelled("n", {{"zone", "a"}}), either));
  EXPECT_TRUE(suits(labelled("n", {{"disk", "hdd"}}), either));
  EXPECT_FALSE(suits(labelled("n", {{"zone", "b"}}), either));
}

TEST(NodeNeeds, FieldsMatchTheName) {
  const auto named = affinity(R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["a"]}]})");
  EXPECT_TRUE(suits(labelled("a", {}), named));
  EXPECT_FALSE(suits(labelled("b", {{"metadata.name", "a"}}), named));
}

TEST(NodeNeeds, RequestsLimitTheWorkersOfANode) {
  auto node = test::make_node("n", 8);
  node.status.allocatable["cpu"] = "10";
  const auto described = test::make_pool_node(std::move(node));
  EXPECT_EQ(worker_slots(described, 2, {}), 4);
  EXPECT_EQ(worker_slots(described, 2, needs("", R"("resources":{"requests":{"cpu":"3"}})")), 3);
  EXPECT_EQ(worker_slots(described, 2, needs("", R"("resources":{"requests":{"cpu":"11"}})")), 0);
  EXPECT_EQ(worker_slots(described, 2, needs(R"("nodeSelector":{"zone":"b"})")), 0);
}

TEST(NodeNeeds, WhatIsUnmetIsNamed) {
  auto node = test::make_node("n");
  node.status.allocatable["memory"] = "16Gi";
  const auto described = test::make_pool_node(std::move(node));
  EXPECT_EQ(unmet_need(described, needs("")), "");
  EXPECT_THAT(unmet_need(described, needs(R"("nodeSelector":{"zone":"b"})")),
              HasSubstr("has no label zone=b"));
  EXPECT_THAT(unmet_need(described, affinity(term("zone", "Exists"))), HasSubstr("nodeAffinity"));
  EXPECT_EQ(unmet_need(described, needs("", R"("resources":{"requests":{"memory":"1Ti"}})")),
            "has 16Gi of memory, a worker asks for 1Ti of memory");
}

}  // namespace
}  // namespace gpupool::planning
