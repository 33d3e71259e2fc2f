// SPDX-License-Identifier: Apache-2.0
#include "planning/tenants/queue_validation.h"

#include <gtest/gtest.h>

#include <functional>

namespace gpupool::planning {
namespace {

api::PoolQueueSpec good() {
  api::PoolQueueSpec spec;
  spec.tenants = {{"a", {"a", "b-*"}, 1, 4, 8, {}}};
  return spec;
}

std::string problem(const std::function<void(api::PoolQueueSpec&)>& change) {
  auto spec = good();
  change(spec);
  return check_queue(spec);
}

using Spec = api::PoolQueueSpec;

TEST(QueueValidation, AcceptsWhatIsRight) {
  EXPECT_EQ(check_queue(Spec()), "");
  EXPECT_EQ(check_queue(good()), "");
}

TEST(QueueValidation, SaysWhatIsWrong) {
  EXPECT_EQ(problem([](Spec& s) { s.half_life_seconds = 60; }),
            "halfLifeSeconds must be from 3600 to 31536000");
  EXPECT_EQ(problem([](Spec& s) { s.tenants[0].weight = 0; }), "tenants[0].weight must be from 1 to 1000");
  EXPECT_EQ(problem([](Spec& s) { s.tenants[0].limit = 3; }),
            "tenants[0].limit must not be less than guaranteed");
  EXPECT_EQ(problem([](Spec& s) { s.tenants[0].guaranteed = -1; }),
            "tenants[0].guaranteed must be from 0 to 1000000");
  EXPECT_EQ(problem([](Spec& s) { s.tenants[0].namespaces = {"*-a"}; }),
            "tenants[0].namespaces[0]: only the last character may be *");
  EXPECT_EQ(problem([](Spec& s) { s.tenants[0].namespaces.clear(); }),
            "tenants[0].namespaces must not be empty");
  EXPECT_EQ(problem([](Spec& s) { s.tenants[0].name = "others"; }),
            "tenants[0].name must not be \"others\" and must not contain a /");
  EXPECT_EQ(problem([](Spec& s) { s.tenants.push_back(s.tenants[0]); }),
            "tenants[1].name: there is a tenant \"a\" before it");
  EXPECT_EQ(problem([](Spec& s) { s.others = api::QueueOthers{"Some", 1, {}}; }),
            "others.mode must be EachNamespace, Together or Refused");
  EXPECT_EQ(problem([](Spec& s) { s.order = "Random"; }), "order must be ResponseRatio or OldestFirst");
  EXPECT_EQ(problem([](Spec& s) { s.assumed_seconds = 0; }), "assumedSeconds must be from 60 to 31536000");
  EXPECT_EQ(problem([](Spec& s) { s.rates = {{"A", 0}}; }), "rates[0].percent must be from 1 to 10000");
  EXPECT_EQ(problem([](Spec& s) { s.tenants.resize(129, s.tenants[0]); }),
            "tenants: at most 128 are possible");
}

}  // namespace
}  // namespace gpupool::planning
