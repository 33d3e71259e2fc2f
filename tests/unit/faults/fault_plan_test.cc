// SPDX-License-Identifier: Apache-2.0
#include "faults/fault_plan.h"

#include <gtest/gtest.h>

#include <set>

namespace gpupool::faults {
namespace {

std::vector<int> history(FaultPlan& plan, const std::string& key, int calls) {
  std::vector<int> faults;
  for (int i = 0; i < calls; ++i) {
    const auto decision = plan.decide(kChange, key);
    faults.push_back(decision ? static_cast<int>(decision->fault) : -1);
  }
  return faults;
}

TEST(FaultPlanTest, TheSameSeedDoesTheSameToEachObjectInWhateverOrder) {
  FaultPlan one({.seed = 7, .rate = 0.5});
  FaultPlan other({.seed = 7, .rate = 0.5});
  const auto a = history(one, "PATCH /a", 50);
  const auto b = history(one, "PATCH /b", 50);
  EXPECT_EQ(history(other, "PATCH /b", 50), b);
  EXPECT_EQ(history(other, "PATCH /a", 50), a);
  EXPECT_NE(a, b);
}

TEST(FaultPlanTest, AnotherSeedDoesAnother) {
  FaultPlan one({.seed = 7, .rate = 0.5});
  FaultPlan other({.seed = 8, .rate = 0.5});
  EXPECT_NE(history(one, "x", 50), history(other, "x", 50));
}

TEST(FaultPlanTest, TheRateIsKept) {
  FaultPlan plan({.seed = 1, .rate = 0.1});
  int faults = 0;
  for (int i = 0; i < 10'000; ++i) faults += plan.decide(kGet, "x").has_value() ? 1 : 0;
  EXPECT_GT(faults, 850);
  EXPECT_LT(faults, 1150);
  FaultPlan none({.seed = 1, .rate = 0});
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(none.decide(kGet, "x"));
}

TEST(FaultPlanTest, EveryKindComesAndOnlyWhereItMakesSense) {
  std::set<Fault> seen;
  for (const Places place : {kGet, kList, kCreate, kChange, kWatch, kLine}) {
    FaultPlan plan({.seed = 3, .rate = 1});
    for (int i = 0; i < 2000; ++i) {
      const auto fault = plan.decide(place, "x")->fault;
      seen.insert(fault);
      for (const auto& kind : fault_kinds()) {
        if (kind.fault == fault) {
          ASSERT_NE(kind.places & place, 0) << kind.name;
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), fault_kinds().size());
}

TEST(FaultPlanTest, OnlyTheKindsAskedFor) {
  FaultPlan plan({.seed = 3, .rate = 1, .kinds = {Fault::kConflict}});
  EXPECT_FALSE(plan.decide(kGet, "x"));
  EXPECT_EQ(plan.decide(kChange, "x")->fault, Fault::kConflict);
}

TEST(FaultPlanTest, Places) {
  const auto place = [](const char* method, const char* target) {
    return place_of({.method = method, .target = target});
  };
  EXPECT_EQ(place("GET", "/api/v1/nodes/a"), kGet);
  EXPECT_EQ(place("GET", "/api/v1/nodes?resourceVersion=0"), kList);
  EXPECT_EQ(place("GET", "/api/v1/nodes?watch=true&resourceVersion=7"), kWatch);
  EXPECT_EQ(place("POST", "/api/v1/namespaces/a/pods?dryRun=All"), kCreate);
  EXPECT_EQ(place("PATCH", "/api/v1/nodes/a"), kChange);
  EXPECT_EQ(place("DELETE", "/api/v1/nodes/a"), kChange);
  EXPECT_EQ(key_of({.method = "GET", .target = "/api/v1/nodes?watch=true"}), "GET /api/v1/nodes");
}

}  // namespace
}  // namespace gpupool::faults
