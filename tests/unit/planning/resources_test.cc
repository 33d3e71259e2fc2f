// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/resources.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace gpupool::planning {
namespace {

Resources requests_in(const std::string& spec) {
  const auto pod = base::json::read<api::TemplateSpec>(spec);
  return requests_of(pod->containers, pod->init_containers);
}

std::string asking(const std::string& cpu, const std::string& more = "") {
  return R"({"resources":{"requests":{"cpu":")" + cpu + R"("}})" + more + "}";
}

TEST(Requests, OfAllContainersTogether) {
  const auto sum = requests_in(R"({"containers":[
    {"resources":{"requests":{"cpu":"500m","memory":"1Gi","example.com/nic":1}}},
    {"resources":{"requests":{"cpu":2,"ephemeral-storage":"10G","example.com/nic":"2"}}}]})");
  EXPECT_EQ(sum.milli_cpu, 2500);
  EXPECT_EQ(sum.memory, std::int64_t{1} << 30);
  EXPECT_EQ(sum.ephemeral_storage, 10'000'000'000);
  EXPECT_EQ(sum.of("example.com/nic"), 3);
}

TEST(Requests, ALimitStandsInForAMissingRequest) {
  const auto sum = requests_in(
      R"({"containers":[{"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"4","memory":"2Ki"}}}]})");
  EXPECT_EQ(sum.milli_cpu, 1000);
  EXPECT_EQ(sum.memory, 2048);
}

TEST(Requests, AnInitContainerCountsIfItAsksForMore) {
  const auto pod = [](const std::string& init) {
    return requests_in(R"({"containers":[)" + asking("2") + "," + asking("1") + R"(],"initContainers":[)" +
                       init + "]}")
        .milli_cpu;
  };
  EXPECT_EQ(pod(asking("2") + "," + asking("1")), 3000);
  EXPECT_EQ(pod(asking("5") + "," + asking("1")), 5000);
}

// resource.PodRequests of k8s.io/component-helpers.
TEST(Requests, AnInitContainerThatRunsOnCountsWithTheOthers) {
  const std::string on = R"(,"restartPolicy":"Always")";
  const auto pod = [&](const std::string& init) {
    return requests_in(R"({"containers":[)" + asking("2") + R"(],"initContainers":[)" + init + "]}")
        .milli_cpu;
  };
  EXPECT_EQ(pod(asking("1", on)), 3000);
  EXPECT_EQ(pod(asking("1", on) + "," + asking("4")), 5000) << "beside a later init container";
  EXPECT_EQ(pod(asking("4") + "," + asking("1", on)), 4000) << "not beside an earlier one";
}

TEST(Requests, BadQuantitiesCountAsNothing) {
  EXPECT_TRUE(requests_in(R"({"containers":[)" + asking("-1") + "," + asking("many") + "]}").empty());
  EXPECT_TRUE(requests_in("{}").empty());
}

TEST(Requests, SumsDoNotOverflow) {
  const auto most = std::to_string(Resources::kMost);
  const std::string each = R"({"resources":{"requests":{"memory":)" + most + "}}}";
  EXPECT_EQ(requests_in(R"({"containers":[)" + each + "," + each + "]}").memory, Resources::kMost);
}

TEST(Resources, WhatANodeDoesNotReportIsNotKnown) {
  const auto all = allocatable_of({{"cpu", "7500m"}, {"example.com/nic", "2"}});
  EXPECT_EQ(all.milli_cpu, 7500);
  EXPECT_EQ(all.memory, Resources::kMost);
  EXPECT_EQ(all.of("example.com/other"), 0) << "a plugin would report it";
}

TEST(Resources, PodsFitBesideWhatIsHeld) {
  const auto all = allocatable_of({{"cpu", "8"}, {"pods", "10"}, {"example.com/nic", "2"}});
  Resources held;
  Resources each;
  EXPECT_EQ(pods_that_fit(all, held, each), 10);
  each.read("cpu", "3");
  EXPECT_EQ(pods_that_fit(all, held, each), 2);
  held.read("cpu", "2500m");
  EXPECT_EQ(pods_that_fit(all, held, each), 1);
  each.read("example.com/nic", "1");
  held.read("example.com/nic", "3");
  EXPECT_EQ(pods_that_fit(all, held, each), 0);
}

TEST(Resources, AreNamedForPeople) {
  EXPECT_EQ(amount_text("cpu", 8000), "8 CPUs");
  EXPECT_EQ(amount_text("cpu", 1000), "1 CPU");
  EXPECT_EQ(amount_text("cpu", 7050), "7.05 CPUs");
  EXPECT_EQ(amount_text("memory", std::int64_t{16} << 30), "16Gi of memory");
  EXPECT_EQ(amount_text("example.com/nic", 2), "2 example.com/nic");
}

}  // namespace
}  // namespace gpupool::planning
