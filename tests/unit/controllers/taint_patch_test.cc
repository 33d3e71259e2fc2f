// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/taint_patch.h"

#include <gtest/gtest.h>

namespace gpupool::controllers {
namespace {

const std::vector<api::Taint> kOthers = {{"a", "1", "NoSchedule"}, {"b", "x", "NoExecute"}};

std::string patch_for(const std::vector<api::Taint>& taints, const std::optional<std::string>& wanted) {
  kube::JsonPatch patch;
  patch_taint(patch, taints, "k", wanted);
  return patch.text();
}

TEST(TaintPatch, TouchesOnlyOursByItsIndex) {
  auto all = kOthers;
  all.push_back({"k", "old", "NoSchedule"});
  EXPECT_EQ(patch_for(all, "new"), R"([{"op":"replace","path":"/spec/taints/2/value","value":"new"}])");
  EXPECT_EQ(patch_for(all, std::nullopt), R"([{"op":"remove","path":"/spec/taints/2"}])");
  EXPECT_EQ(patch_for(all, "old"), "[]") << "it is so already";
}

TEST(TaintPatch, AddsBehindOthers) {
  const std::string taint = R"({"key":"k","value":"v","effect":"NoSchedule"})";
  EXPECT_EQ(patch_for(kOthers, "v"), R"([{"op":"add","path":"/spec/taints/-","value":)" + taint + "}]");
  EXPECT_EQ(patch_for({}, "v"), R"([{"op":"add","path":"/spec/taints","value":[)" + taint + "]}]");
  EXPECT_EQ(patch_for(kOthers, std::nullopt), "[]");
}

// Removed by index, so from the last one on.
TEST(TaintPatch, TakesOffOtherEffectsUnderTheKey) {
  const std::vector<api::Taint> strays = {{"k", "x", "NoExecute"},
                                          {"a", "1", "NoSchedule"},
                                          {"k", "old", "NoSchedule"},
                                          {"k", "y", "PreferNoSchedule"}};
  EXPECT_EQ(patch_for(strays, "old"), R"([{"op":"remove","path":"/spec/taints/3"},)"
                                      R"({"op":"remove","path":"/spec/taints/0"}])");
  EXPECT_EQ(patch_for(strays, std::nullopt), R"([{"op":"remove","path":"/spec/taints/3"},)"
                                             R"({"op":"remove","path":"/spec/taints/2"},)"
                                             R"({"op":"remove","path":"/spec/taints/0"}])");
}

}  // namespace
}  // namespace gpupool::controllers
