// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <future>
#include <thread>

#include "tests/unit/device-plugin/nvidia/fake_driver.h"

namespace gpupool::nvidia {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

constexpr auto kHang = 60s;  // never reached unless something is broken

auto is_xid(const std::string& gpu, std::uint64_t xid) {
  return AllOf(Field(&inventory::ErrorEvent::gpu, gpu), Field(&inventory::ErrorEvent::code, xid));
}

TEST(NvmlEvents, ComeWithTheGpuAndAllAtOnce) {
  FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}, {"uuid": "GPU-b"}]})");
  const auto source = driver.source();
  list_or_fail(*source);
  driver.say(R"({"gpus": [{"uuid": "GPU-a"}, {"uuid": "GPU-b"}],
                 "xids": [{"sequence": 1, "gpu": 1, "xid": 79}, {"sequence": 2, "gpu": 0, "xid": 31}]})");
  EXPECT_THAT(source->wait_events(kHang, {}), ElementsAre(is_xid("GPU-b", 79), is_xid("GPU-a", 31)));
  EXPECT_THAT(source->wait_events(0s, {}), IsEmpty());  // each is told once
}

TEST(NvmlEvents, WakeAThreadThatWaits) {
  FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}]})");
  const auto source = driver.source();
  list_or_fail(*source);
  auto events = std::async(std::launch::async, [&] { return source->wait_events(kHang, {}); });
  driver.say(R"({"gpus": [{"uuid": "GPU-a"}], "xids": [{"sequence": 1, "gpu": 0, "xid": 48}]})");
  EXPECT_THAT(events.get(), ElementsAre(is_xid("GPU-a", 48)));
}

TEST(NvmlEvents, OfALostGpuStillNameIt) {
  FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}]})");
  const auto source = driver.source();
  list_or_fail(*source);
  driver.say(
      R"({"gpus": [{"uuid": "GPU-a", "state": "lost"}], "xids": [{"sequence": 1, "gpu": 0, "xid": 79}]})");
  EXPECT_THAT(source->wait_events(kHang, {}), ElementsAre(is_xid("GPU-a", 79)));
}

// While a GPU is lost, NVML answers GPU_IS_LOST to every wait; other GPUs' events must still come.
TEST(NvmlEvents, ComeWhileAnotherGpuIsLost) {
  FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}, {"uuid": "GPU-b"}]})");
  const auto source = driver.source();
  list_or_fail(*source);
  driver.say(R"({"gpus": [{"uuid": "GPU-a", "state": "lost"}, {"uuid": "GPU-b"}]})");
  auto events = std::async(std::launch::async, [&] { return source->wait_events(kHang, {}); });
  driver.say(R"({"gpus": [{"uuid": "GPU-a", "state": "lost"}, {"uuid": "GPU-b"}],
                 "xids": [{"sequence": 1, "gpu": 1, "xid": 95}]})");
  EXPECT_THAT(events.get(), ElementsAre(is_xid("GPU-b", 95)));
}

TEST(NvmlEvents, OfAGpuThatCameLater) {
  FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}, {"uuid": "GPU-b", "state": "lost"}]})");
  const auto source = driver.source();
  list_or_fail(*source);
  driver.say(R"({"gpus": [{"uuid": "GPU-a"}, {"uuid": "GPU-b"}]})");
  list_or_fail(*source);
  driver.say(
      R"({"gpus": [{"uuid": "GPU-a"}, {"uuid": "GPU-b"}], "xids": [{"sequence": 1, "gpu": 1, "xid": 74}]})");
  EXPECT_THAT(source->wait_events(kHang, {}), ElementsAre(is_xid("GPU-b", 74)));
}

TEST(NvmlEvents, WaitNoLongerThanTold) {
  const FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}]})");
  const auto source = driver.source();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(source->wait_events(20ms, {}), IsEmpty());  // without a driver
  list_or_fail(*source);
  EXPECT_THAT(source->wait_events(20ms, {}), IsEmpty());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 40ms);
}

TEST(NvmlEvents, EndWhenStopIsRequested) {
  const FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}]})");
  for (const bool opened : {false, true}) {
    const auto source = driver.source();
    if (opened) list_or_fail(*source);
    std::stop_source stop;
    auto events =
        std::async(std::launch::async, [&] { return source->wait_events(kHang, stop.get_token()); });
    stop.request_stop();
    EXPECT_THAT(events.get(), IsEmpty());
  }
}

// The thread that waits without a driver must notice when one comes.
TEST(NvmlEvents, StartWhenTheDriverAppears) {
  FakeDriver driver(R"({"driver": {"loaded": false}})");
  const auto source = driver.source();
  EXPECT_FALSE(source->list());
  auto events = std::async(std::launch::async, [&] { return source->wait_events(kHang, {}); });
  driver.say(R"({"gpus": [{"uuid": "GPU-a"}]})");
  list_or_fail(*source);
  driver.say(R"({"gpus": [{"uuid": "GPU-a"}], "xids": [{"sequence": 1, "gpu": 0, "xid": 62}]})");
  EXPECT_THAT(events.get(), ElementsAre(is_xid("GPU-a", 62)));
}

}  // namespace
}  // namespace gpupool::nvidia
