// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cstring>
#include <set>

#include "nvidia/nvml/read_processes.h"
#include "tests/unit/device-plugin/nvidia/fake_driver.h"

namespace gpupool::nvidia {
namespace {

using nvml::Return;

constexpr std::uint64_t kOneMib = 1024 * 1024;

std::string listed_processes(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) {
    text += (i == 1 ? "" : ", ") + (R"({"pid": )" + std::to_string(i)) + R"(, "usedMiB": )" +
            std::to_string(10 * i) + "}";
  }
  return R"({"gpus": [{"uuid": "GPU-a", "processes": [)" + text + R"(]}, {"uuid": "GPU-b"}]})";
}

TEST(NvmlProcesses, TellsWhatEachUses) {
  const FakeDriver driver(listed_processes(2));
  const auto source = driver.source();
  list_or_fail(*source);
  const auto found = source->processes("GPU-a");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ(found->at(0).pid, 1);
  EXPECT_EQ(found->at(0).memory_bytes, 10 * kOneMib);
  EXPECT_EQ(found->at(1).pid, 2);
  EXPECT_EQ(found->at(1).memory_bytes, 20 * kOneMib);
  EXPECT_TRUE(source->processes("GPU-b")->empty());
}

// More than there is room for at first.
TEST(NvmlProcesses, TellsOfMany) {
  const FakeDriver driver(listed_processes(1000));
  const auto source = driver.source();
  list_or_fail(*source);
  const auto found = source->processes("GPU-a");
  ASSERT_TRUE(found) << found.error().message;
  std::set<std::int64_t> pids;
  for (const auto& process : *found) pids.insert(process.pid);
  EXPECT_EQ(pids.size(), 1000U);
}

TEST(NvmlProcesses, OfNoGpuIsAnError) {
  FakeDriver driver(listed_processes(1));
  const auto source = driver.source();
  EXPECT_EQ(source->processes("GPU-a").error().code, base::ErrorCode::kNotFound);  // not listed yet
  list_or_fail(*source);
  EXPECT_EQ(source->processes("GPU-c").error().code, base::ErrorCode::kNotFound);
  driver.say(R"({"gpus": [{"uuid": "GPU-a", "state": "lost"}]})");
  EXPECT_EQ(source->processes("GPU-a").error().code, base::ErrorCode::kInvalid);
}

TEST(NvmlProcesses, AnNvmlThatCannotTellIsAnError) {
  const FakeDriver driver(listed_processes(1));
  const auto source = driver.source(old_fake_library());
  list_or_fail(*source);
  const auto found = source->processes("GPU-a");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::ErrorCode::kInvalid);
  EXPECT_THAT(found.error().message, testing::HasSubstr("does not tell which processes"));
}

// Lists as a driver would give them.
Return fill_list(std::initializer_list<nvml::ProcessInfo> list, unsigned int* count, nvml::ProcessInfo* out) {
  const unsigned int room = *count;
  *count = static_cast<unsigned int>(list.size());
  if (room < list.size()) return Return::kInsufficientSize;
  std::copy(list.begin(), list.end(), out);
  return Return::kSuccess;
}

Return computing(nvml::Device, unsigned int* count, nvml::ProcessInfo* out) {
  return fill_list({{7, 100, 0, 0}, {8, nvml::kBytesUnknown, 0, 0}, {9, nvml::kBytesUnknown, 0, 0}}, count,
                   out);
}

Return drawing(nvml::Device, unsigned int* count, nvml::ProcessInfo* out) {
  return fill_list({{7, 130, 0, 0}, {9, 40, 0, 0}}, count, out);
}

Return failing(nvml::Device, unsigned int*, nvml::ProcessInfo*) { return Return::kNotSupported; }

// Always says that there is one more than there was room for.
Return growing(nvml::Device, unsigned int* count, nvml::ProcessInfo*) {
  ++*count;
  return Return::kInsufficientSize;
}

Return impossible(nvml::Device, unsigned int* count, nvml::ProcessInfo*) {
  *count = ~0U;
  return Return::kInsufficientSize;
}

TEST(NvmlProcesses, AProcessInTwoListsIsOne) {
  NvmlFunctions nvml;
  nvml.compute_processes = computing;
  nvml.graphics_processes = drawing;
  nvml.mps_processes = failing;
  const auto found = read_processes(nvml, nullptr);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 3U);
  EXPECT_EQ(found->at(0).memory_bytes, 130U);
  EXPECT_EQ(found->at(1).memory_bytes, std::nullopt);  // the driver does not tell
  EXPECT_EQ(found->at(2).memory_bytes, 40U);
}

TEST(NvmlProcesses, ListsThatNeverFitAreAnError) {
  for (const auto list : {growing, impossible}) {
    NvmlFunctions nvml;
    nvml.compute_processes = list;
    EXPECT_EQ(read_processes(nvml, nullptr).error().code, base::ErrorCode::kInvalid);
  }
}

}  // namespace
}  // namespace gpupool::nvidia
