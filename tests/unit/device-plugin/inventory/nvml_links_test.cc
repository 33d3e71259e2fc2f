#include <gmock/gmock.h>

#include "tests/unit/device-plugin/inventory/fake_driver.h"

namespace gpupool::inventory {
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
  const Inventory inventory = list_or_fail(*source);
  ASSERT_THAT(inventory.gpus, SizeIs(5));
  EXPECT_THAT(inventory.gpus[0].links,
              ElementsAre(Link{"GPU-b", Distance::kSameCpu, 0}, Link{"GPU-c", Distance::kSingleSwitch, 0},
                          Link{"GPU-d", Distance::kSameCpu, 0}, Link{"GPU-e", Distance::kSystem, 0}));
  EXPECT_THAT(inventory.gpus[3].links,
              ElementsAre(Link{"GPU-a", Distance::kSameCpu, 0}, Link{"GPU-b", Distance::kSameBoard, 0},
                          Link{"GPU-c", Distance::kSameCpu, 0}, Link{"GPU-e", Distance::kSystem, 0}));
}

TEST(NvmlLinks, DirectNvlinksAreCounted) {
  const FakeDriver driver(R"({"gpus": [
    {"uuid": "GPU-a", "nvlinks": [{"gpu": 1, "links": 4}, {"gpu": 2, "links": 2}]},
    {"uuid": "GPU-b", "nvlinks": [{"gpu": 0, "links": 4}]},
    {"uuid": "GPU-c", "nvlinks": [{"gpu": 0, "links": 2}]}]})");
  const auto source = driver.source();
  const Inventory inventory = list_or_fail(*source);
  ASSERT_THAT(inventory.gpus, SizeIs(3));
  EXPECT_THAT(inventory.gpus[0].links,
              ElementsAre(Link{"GPU-b", Distance::kNvlink, 4}, Link{"GPU-c", Distance::kNvlink, 2}));
  EXPECT_THAT(inventory.gpus[1].links,
              ElementsAre(Link{"GPU-a", Distance::kNvlink, 4}, Link{"GPU-c", Distance::kSameCpu, 0}));
}

TEST(NvmlLinks, OverASwitchTheFewerLinksCount) {
  const FakeDriver driver(R"({"gpus": [
    {"uuid": "GPU-a", "nvlinks": [{"links": 18}]},
    {"uuid": "GPU-b", "nvlinks": [{"links": 12}]},
    {"uuid": "GPU-c"}]})");
  const auto source = driver.source();
  const Inventory inventory = list_or_fail(*source);
  ASSERT_THAT(inventory.gpus, SizeIs(3));
  EXPECT_THAT(inventory.gpus[0].links,
              ElementsAre(Link{"GPU-b", Distance::kNvlink, 12}, Link{"GPU-c", Distance::kSameCpu, 0}));
  EXPECT_THAT(inventory.gpus[2].links,
              ElementsAre(Link{"GPU-a", Distance::kSameCpu, 0}, Link{"GPU-b", Distance::kSameCpu, 0}));
}

TEST(NvmlLinks, AreReadAgainWhenTheGpusChange) {
  FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}, {"uuid": "GPU-b"}]})");
  const auto source = driver.source();
  const Link far{"GPU-b", Distance::kSameCpu, 0};
  const Link near{"GPU-b", Distance::kNvlink, 18};
  const std::string linked = R"("nvlinks": [{"links": 18}]})";
  EXPECT_THAT(list_or_fail(*source).gpus.at(0).links, ElementsAre(far));
  driver.say(R"({"gpus": [{"uuid": "GPU-a", )" + linked + R"(, {"uuid": "GPU-b", )" + linked + "]}");
  EXPECT_THAT(list_or_fail(*source).gpus.at(0).links, ElementsAre(far));  // nobody asked
  driver.say(R"({"gpus": [{"uuid": "GPU-a", )" + linked + R"(, {"uuid": "GPU-b", "mig": [], )" + linked +
             "]}");
  EXPECT_THAT(list_or_fail(*source).gpus.at(0).links, ElementsAre(near));
}

}  // namespace
}  // namespace gpupool::inventory
