// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/shared_memory.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpupool::planning {
namespace {

using Json = nlohmann::json;
const Json kMount = {{"name", "gpupool-shm"}, {"mountPath", "/dev/shm"}};

Json with_shared_memory(const std::string& pod_spec) {
  auto spec = Json::parse(pod_spec);
  add_shared_memory(spec);
  return spec;
}

// Returns the volume of a worker with these resources.
Json volume_of(const std::string& resources) {
  return with_shared_memory(R"({"containers":[{"name":"w","resources":)" + resources + "}]}")["volumes"][0];
}

Json volume(const Json& empty_dir) { return {{"name", "gpupool-shm"}, {"emptyDir", empty_dir}}; }

TEST(SharedMemory, IsAsLargeAsTheWorkersMemory) {
  EXPECT_EQ(volume_of(R"({"limits":{"memory":"8Gi"}})"),
            volume({{"medium", "Memory"}, {"sizeLimit", "8Gi"}}));
  EXPECT_EQ(volume_of(R"({"limits":{"memory":1000}})"), volume({{"medium", "Memory"}, {"sizeLimit", 1000}}));
}

TEST(SharedMemory, TheKubeletChoosesItsSizeWithoutALimit) {
  for (const char* resources : {"{}", "null", R"({"requests":{"memory":"8Gi"}})",
                                R"({"limits":{"memory":"0"}})", R"({"limits":null})"})
    EXPECT_EQ(volume_of(resources), volume({{"medium", "Memory"}})) << resources;
}

TEST(SharedMemory, AllContainersShareIt) {
  const auto spec = with_shared_memory(
      R"({"containers":[{"name":"w","volumeMounts":[{"name":"v","mountPath":"/data"}]},{"name":"side"}],
          "initContainers":[{"name":"fetch"}],"volumes":[{"name":"v"}]})");
  EXPECT_EQ(spec["containers"][0]["volumeMounts"], Json({{{"name", "v"}, {"mountPath", "/data"}}, kMount}));
  EXPECT_EQ(spec["containers"][1]["volumeMounts"], Json::array({kMount}));
  EXPECT_EQ(spec["initContainers"][0]["volumeMounts"], Json::array({kMount}));
  EXPECT_EQ(spec["volumes"].size(), 2U);
}

TEST(SharedMemory, WhatTheTemplateMountsThereStays) {
  for (const char* path : {"/dev/shm", "/dev/shm/", "/dev"}) {
    const auto own = Json::parse(R"({"containers":[{"name":"w","volumeMounts":[{"name":"v","mountPath":")" +
                                 std::string(path) + R"("}]},{"name":"side"}]})");
    EXPECT_EQ(with_shared_memory(own.dump()), own) << path;
  }
  const auto side = with_shared_memory(
      R"({"containers":[{"name":"w"},{"name":"side","volumeMounts":[{"name":"v","mountPath":"/dev/shm"}]}]})");
  EXPECT_EQ(side["containers"][0]["volumeMounts"], Json::array({kMount}));
  EXPECT_EQ(side["containers"][1]["volumeMounts"].size(), 1U);
}

TEST(SharedMemory, TheNodesOwnStays) {
  const auto spec = Json::parse(R"({"hostIPC":true,"containers":[{"name":"w"}]})");
  EXPECT_EQ(with_shared_memory(spec.dump()), spec);
}

}  // namespace
}  // namespace gpupool::planning
