// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/unit/device-plugin/nvidia/fake_driver.h"

namespace gpupool::nvidia {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TEST(NvmlLinks, PciDistances) {
  const FakeDriver driver(R"({"gpus": [
    {"uuid": "GPU-a", "switch": 1},
    {"uuid": "GPU-c", "switch": 1},
    {"uuid": "GPU-b", "switch": 2, "board": 7},
    {"uuid": "GPU-d", "switch": 3, "board": 7},
    {"uuid": "GPU-e", "numaNode": 1}]})");
  const auto source = driver.source();
  const inventory::Inventory inventory = list_or_fail(*source);
  ASSERT_THAT(inventory.gpus, SizeIs(5));
  EXPECT_THAT(inventory.gpus[0].links,
              ElementsAre(inventory::Link{"GPU-b", inventory::Distance::kSameCpu, 0},
                          inventory::Link{"GPU-c", inventory::Distance::kSingleSwitch, 0},
                          inventory::Link{"GPU-d", inventory::Distance::kSameCpu, 0},
                          inventory::Link{"GPU-e", inventory::Distance::kSystem, 0}));
  EXPECT_THAT(inventory.gpus[3].links,
              ElementsAre(inventory::Link{"GPU-a", inventory::Distance::kSameCpu, 0},
                          inventory::Link{"GPU-b", inventory::Distance::kSameBoard, 0},
                          inventory::Link{"GPU-c", inventory::Distance::kSameCpu, 0},
                          inventory::Link{"GPU-e", inventory::Distance::kSystem, 0}));
}

TEST(NvmlLinks, DirectNvlinksAreCounted) {
  const FakeDriver driver(R"({"gpus": [
    {"uuid": "GPU-a", "nvlinks": [{"gpu": 1, "links": 4}, {"gpu": 2, "links": 2}]},
    {"uuid": "GPU-b", "nvlinks": [{"gpu": 0, "links": 4}]},
    {"uuid": "GPU-c", "nvlinks": [{"gpu": 0, "links": 2}]}]})");
  const auto source = driver.source();
  const inventory::Inventory inventory = list_or_fail(*source);
  ASSERT_THAT(inventory.gpus, SizeIs(3));
  EXPECT_THAT(inventory.gpus[0].links,
              ElementsAre(inventory::Link{"GPU-b", inventory::Distance::kNvlink, 4},
                          inventory::Link{"GPU-c", inventory::Distance::kNvlink, 2}));
  EXPECT_THAT(inventory.gpus[1].links,
              ElementsAre(inventory::Link{"GPU-a", inventory::Distance::kNvlink, 4},
                          inventory::Link{"GPU-c", inventory::Distance::kSameCpu, 0}));
}

TEST(NvmlLinks, OverASwitchTheFewerLinksCount) {
  const FakeDriver driver(R"({"gpus": [
    {"uuid": "GPU-a", "nvlinks": [{"links": 18}]},
    {"uuid": "GPU-b", "nvlinks": [{"links": 12}]},
    {"uuid": "GPU-c"}]})");
  const auto source = driver.source();
  const inventory::Inventory inventory = list_or_fail(*source);
  ASSERT_THAT(inventory.gpus, SizeIs(3));
  EXPECT_THAT(inventory.gpus[0].links,
              ElementsAre(inventory::Link{"GPU-b", inventory::Distance::kNvlink, 12},
                          inventory::Link{"GPU-c", inventory::Distance::kSameCpu, 0}));
  EXPECT_THAT(inventory.gpus[2].links,
              ElementsAre(inventory::Link{"GPU-a", inventory::Distance::kSameCpu, 0},
                          inventory::Link{"GPU-b", inventory::Distance::kSameCpu, 0}));
}

TEST(NvmlLinks, AreReadAgainWhenTheGpusChange) {
  FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}, {"uuid": "GPU-b"}]})");
  const auto source = driver.source();
  const inventory::Link far{"GPU-b", inventory::Distance::kSameCpu, 0};
  const inventory::Link near{"GPU-b", inventory::Distance::kNvlink, 18};
  const std::string linked = R"("nvlinks": [{"links": 18}]})";
  EXPECT_THAT(list_or_fail(*source).gpus.at(0).links, ElementsAre(far));
  driver.say(R"({"gpus": [{"uuid": "GPU-a", )" + linked + R"(, {"uuid": "GPU-b", )" + linked + "]}");
  EXPECT_THAT(list_or_fail(*source).gpus.at(0).links, ElementsAre(far));  // nobody asked
  driver.say(R"({"gpus": [{"uuid": "GPU-a", )" + linked + R"(, {"uuid": "GPU-b", "mig": [], )" + linked +
             "]}");
  EXPECT_THAT(list_or_fail(*source).gpus.at(0).links, ElementsAre(near));
}

}  // namespace
}  // namespace gpupool::nvidia
