// SPDX-License-Identifier: Apache-2.0
#include "settings/resource_name.h"

#include <gtest/gtest.h>

namespace gpupool::settings {
namespace {

TEST(ResourceName, NamesThatKubernetesTakes) {
  for (const std::string name :
       {"gpupool.dev/vgpu", "nvidia.com/gpu", "a/b", "nvidia.com/gpu.shared", "x-1.y/A_b.c-9"}) {
    EXPECT_TRUE(to_resource_name(name).has_value()) << name;
  }
  EXPECT_TRUE(to_resource_name(std::string(244, 'd') + "/" + std::string(63, 'n')).has_value());
}

TEST(ResourceName, NamesThatItDoesNot) {
  const std::vector<std::string> names = {"",
                                          "vgpu",
                                          "/vgpu",
                                          "gpupool.dev/",
                                          "gpupool.dev/v/gpu",
                                          "Gpupool.dev/vgpu",
                                          "gpupool..dev/vgpu",
                                          ".gpupool.dev/vgpu",
                                          "gpupool.dev./vgpu",
                                          "-gpupool.dev/vgpu",
                                          "gpupool-.dev/vgpu",
                                          "gpupool.dev/-vgpu",
                                          "gpupool.dev/vgpu.",
                                          "gpupool.dev/v gpu",
                                          "gpupool.dev/v\ngpu",
                                          "kubernetes.io/gpu",
                                          "node.kubernetes.io/gpu",
                                          "requests.nvidia.com/gpu",
                                          "nvidia.com/mig-1g.10gb",
                                          std::string(245, 'd') + "/n",
                                          "d/" + std::string(64, 'n')};
  for (const auto& name : names) EXPECT_FALSE(to_resource_name(name).has_value()) << name;
}

}  // namespace
}  // namespace gpupool::settings
