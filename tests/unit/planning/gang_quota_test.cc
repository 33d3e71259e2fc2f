// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/gang_quota.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace gpupool::planning {
namespace {

using Amounts = std::map<std::string, std::string>;

api::ResourceQuota make_quota(Amounts hard, Amounts used = {}) {
  api::ResourceQuota quota;
  quota.metadata.name = "team";
  quota.status = {std::move(hard), std::move(used)};
  return quota;
}

// 1.5 CPUs and 1Gi asked, 2 CPUs and 1Gi at most, 2 GPUs; 500m of overhead.
api::ForeignPod make_worker() {
  return *base::json::read<api::ForeignPod>(R"({"spec":{"overhead":{"cpu":"500m"},"containers":[{"resources":{
    "requests":{"cpu":"1500m","memory":"1Gi"},"limits":{"cpu":"2","memory":"1Gi","nvidia.com/gpu":"2"}}}],
    "initContainers":[{"resources":{"requests":{"cpu":"100m","memory":"2Gi"}}}]}})");
}

std::string judge(const api::ResourceQuota& quota, std::int64_t workers = 4) {
  return exceeded_quota({quota}, make_worker(), workers);
}

TEST(GangQuota, CountsAllWorkers) {
  EXPECT_EQ(judge(make_quota({{"pods", "4"}})), "");
  EXPECT_EQ(judge(make_quota({{"pods", "4"}}, {{"pods", "1"}})),
            "exceeded quota: team, requested by all 4 workers: pods=4, used: pods=1, limited: pods=4");
  EXPECT_NE(judge(make_quota({{"count/pods", "3"}})), "");
}

TEST(GangQuota, CountsEachResourceInItsUnit) {
  const std::initializer_list<std::pair<const char*, std::pair<const char*, const char*>>> enough_and_less = {
      {"cpu", {"8", "7999m"}},
      {"requests.cpu", {"8", "7999m"}},
      {"memory", {"8Gi", "8191Mi"}},
      {"requests.memory", {"8Gi", "8191Mi"}},
      {"limits.cpu", {"8", "7"}},
      {"limits.memory", {"4Gi", "4095Mi"}},
      {"requests.nvidia.com/gpu", {"8", "7"}},
  };
  for (const auto& [name, amounts] : enough_and_less) {
    EXPECT_EQ(judge(make_quota({{name, amounts.first}})), "") << name;
    EXPECT_NE(judge(make_quota({{name, amounts.second}})), "") << name;
    EXPECT_NE(judge(make_quota({{name, amounts.first}}, {{name, "1"}})), "") << name;
  }
  EXPECT_EQ(judge(make_quota({{"cpu", "7500m"}}, {{"cpu", "0"}})),
            "exceeded quota: team, requested by all 4 workers: cpu=8, used: cpu=0, limited: cpu=7500m");
}

TEST(GangQuota, LeavesToTheServerWhatItCannotTell) {
  auto scoped = make_quota({{"pods", "0"}});
  scoped.spec.scopes = {"BestEffort"};
  EXPECT_EQ(judge(scoped), "");
  auto selected = make_quota({{"pods", "0"}});
  selected.spec.scope_selector.text = "{}";
  EXPECT_EQ(judge(selected), "");
  EXPECT_EQ(judge(make_quota({{"count/jobs.batch", "0"}, {"services", "0"}})), "");
}

}  // namespace
}  // namespace gpupool::planning
