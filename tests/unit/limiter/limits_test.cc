// SPDX-License-Identifier: Apache-2.0
#include "limiter/limits/limits.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "allocation/limits_file.h"
#include "limiter/limits/crc32.h"

namespace gpupool::limiter {
namespace {

using Source = Limits::Source;
constexpr std::uint64_t kOneMib = 1ULL << 20U;

std::string with_checksum(const std::string& lines) {
  std::array<char, 32> line{};
  std::snprintf(line.data(), line.size(), "crc32 %08x\n", crc32(lines));
  return lines + line.data();
}

Limits parsed(const std::string& lines) { return parse_limits(with_checksum("gpupool-limits 1\n" + lines)); }

std::string problem_of_lines(const std::string& lines) {
  const Limits limits = parsed(lines);
  return limits.source == Source::kBad ? limits.problem : "";
}

TEST(LimitsFile, Crc32IsZlibs) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926U);
  EXPECT_EQ(crc32(""), 0U);
}

TEST(LimitsFile, AsThePluginWritesIt) {
  slices::SlicedGpu gpu;
  gpu.limited = true;
  slices::SlicedGpu whole;
  std::vector<allocation::Device> devices(2);
  devices[0] = {};
  devices[0].gpu = &gpu;
  devices[0].visible = "GPU-0a1b";
  devices[0].memory_mib = 3274;
  devices[0].cores = 20;
  devices[0].ordinals = {4, 5};
  devices[1].gpu = &whole;
  devices[1].visible = "MIG-9c8d";
  devices[1].ordinals = {0};
  const Limits limits = parse_limits(allocation::limits_file(devices).content);
  ASSERT_EQ(limits.source, Source::kFile) << limits.problem;
  ASSERT_EQ(limits.count, 2U);
  EXPECT_STREQ(limits.devices[0].uuid, "GPU-0a1b");
  EXPECT_TRUE(limits.devices[0].limited);
  EXPECT_EQ(limits.devices[0].bytes, 3274 * kOneMib);
  EXPECT_EQ(limits.devices[0].cores, 20U);
  EXPECT_FALSE(limits.devices[1].limited);
  EXPECT_EQ(limits.devices[1].cores, 0U);
  EXPECT_EQ(find_device(limits, "MIG-9c8d"), 1U);
  EXPECT_EQ(find_device(limits, "MIG-9c8"), 2U);
  EXPECT_TRUE(limits.limits_anything());
}

TEST(LimitsFile, MayTellToWaitAndAContextsSize) {
  const Limits limits = parsed("device 0 GPU-a 10 - 0\nwait 30\ncontext 500\n");
  EXPECT_EQ(limits.source, Source::kFile);
  EXPECT_EQ(limits.wait_seconds, 30U);
  EXPECT_EQ(limits.context_bytes, 500 * kOneMib);
  EXPECT_EQ(parsed("device 0 GPU-a 10 - 0\n").wait_seconds, 0U);
}

TEST(LimitsFile, LinesOfLaterVersionsAreSkipped) {
  EXPECT_EQ(parsed("device 0 GPU-a 10 - 0\ncolour red\n\n").source, Source::kFile);
  EXPECT_EQ(parsed("device 0 GPU-a 10 - 0 later\n").source, Source::kFile);
}

TEST(LimitsFile, WithoutLimitsLimitsNothing) {
  EXPECT_FALSE(parsed("device 0 GPU-a - - 0\n").limits_anything());
  EXPECT_FALSE(parsed("").limits_anything());
}

TEST(LimitsFile, SaysWhatIsWrong) {
  EXPECT_EQ(problem_of_lines("device 1 GPU-a 10 - 0\n"), "devices are not in order");
  EXPECT_EQ(problem_of_lines("device x GPU-a 10 - 0\n"), "devices are not in order");
  EXPECT_EQ(problem_of_lines("device 0 GPU-a 10 - 0\ndevice 0 GPU-b 10 - 0\n"), "devices are not in order");
  EXPECT_EQ(problem_of_lines("device 0 GPU-a 10 - 0\ndevice 1 GPU-a 10 - 0\n"), "a device is there twice");
  EXPECT_EQ(problem_of_lines("device 0\n"), "a device has no UUID");
  EXPECT_EQ(problem_of_lines("device 0 GPU-\x01 1 - 0\n"), "a device has no UUID");
  EXPECT_EQ(problem_of_lines("device 0 " + std::string(64, 'a') + " 1 - 0\n"), "a device has no UUID");
  for (const std::string memory :
       {"", "0", "-1", "1.5", "0x10", "+1", "99999999999999999999", "1099511627777"}) {
    EXPECT_EQ(problem_of_lines("device 0 GPU-a " + memory + " - 0\n"),
              "a device's memory is no number of MiB")
        << memory;
  }
  for (const std::string cores : {"", "0", "101", "x"}) {
    EXPECT_EQ(problem_of_lines("device 0 GPU-a 1 " + cores + " 0\n"),
              "a device's share of the cores is no percentage");
  }
  EXPECT_EQ(problem_of_lines("device 0 GPU-a 1 -\n"), "a device has no slices");
  EXPECT_EQ(problem_of_lines("wait\n"), "the time to wait is no number of seconds");
  EXPECT_EQ(problem_of_lines("wait 86401\n"), "the time to wait is no number of seconds");
  EXPECT_EQ(problem_of_lines("context -\n"), "the size of a context is no number of MiB");
  std::string many;
  for (int i = 0; i < 17; ++i) {
    many += "device " + std::to_string(i) + " GPU-" + std::to_string(i) + " 1 - 0\n";
  }
  EXPECT_EQ(problem_of_lines(many), "more devices than the limiter knows");
}

TEST(LimitsFile, OfAnotherVersionOrWithoutAGoodChecksumIsBad) {
  const std::string good = with_checksum("gpupool-limits 1\ndevice 0 GPU-a 10 - 0\n");
  ASSERT_EQ(parse_limits(good).source, Source::kFile);
  EXPECT_EQ(parse_limits(with_checksum("gpupool-limits 2\n")).source, Source::kBad);
  EXPECT_EQ(parse_limits(good + "x").source, Source::kBad);
  EXPECT_EQ(parse_limits("").source, Source::kBad);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string changed = good;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(parse_limits(changed).source, Source::kBad) << i;
    EXPECT_EQ(parse_limits(good.substr(0, i)).source, Source::kBad) << i;
  }
  EXPECT_EQ(parsed(std::string(kMaxLimitsFile, '\n')).source, Source::kBad);
}

Limits of_environment(std::vector<const char*> variables) {
  variables.push_back(nullptr);
  return parse_environment(variables.data());
}

TEST(LimitsOfTheEnvironment, AreSizes) {
  const Limits limits = of_environment(
      {"A=b", "CUDA_DEVICE_MEMORY_LIMIT_2=3000m", "CUDA_DEVICE_MEMORY_LIMIT_0=4G", "CUDA_DEVICE=1"});
  ASSERT_EQ(limits.source, Source::kEnvironment);
  ASSERT_EQ(limits.count, 3U);
  EXPECT_EQ(limits.devices[0].bytes, 4096 * kOneMib);
  EXPECT_FALSE(limits.devices[1].limited);
  EXPECT_EQ(limits.devices[2].bytes, 3000 * kOneMib);
  EXPECT_EQ(of_environment({"CUDA_DEVICE_MEMORY_LIMIT_0=77"}).devices[0].bytes, 77U);
  EXPECT_EQ(of_environment({"CUDA_DEVICE_MEMORY_LIMIT_0=2k"}).devices[0].bytes, 2048U);
  EXPECT_EQ(of_environment({}).source, Source::kNone);
  EXPECT_EQ(parse_environment(nullptr).source, Source::kNone);
}

TEST(LimitsOfTheEnvironment, TheLowerOfTwo) {
  const char* const low = "CUDA_DEVICE_MEMORY_LIMIT_0=1m";
  const char* const high = "CUDA_DEVICE_MEMORY_LIMIT_0=2m";
  EXPECT_EQ(of_environment({low, high}).devices[0].bytes, kOneMib);
  EXPECT_EQ(of_environment({high, low}).devices[0].bytes, kOneMib);
}

TEST(LimitsOfTheEnvironment, ThatAreNoSizesAreBad) {
  for (const std::string rest :
       {"0=", "0=x", "0=0", "0=-1", "0=1mm", "=1", "x=1", "16=1", "0", "0=99999999999g", "0=m"}) {
    const std::string variable = "CUDA_DEVICE_MEMORY_LIMIT_" + rest;
    EXPECT_EQ(of_environment({variable.c_str()}).source, Source::kBad) << variable;
  }
}

class LoadLimits : public testing::Test {
 protected:
  LoadLimits() {
    std::string pattern = testing::TempDir() + "/limits-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~LoadLimits() override { std::filesystem::remove_all(folder_); }
  Limits load(const std::string& name) const {
    const std::array<const char*, 2> environment = {"CUDA_DEVICE_MEMORY_LIMIT_0=1m", nullptr};
    return load_limits((folder_ + "/" + name).c_str(), environment.data());
  }
  std::string folder_;
};

TEST_F(LoadLimits, TheFileWinsOverTheEnvironment) {
  std::ofstream(folder_ + "/limits") << with_checksum("gpupool-limits 1\ndevice 0 GPU-a 10 - 0\n");
  EXPECT_EQ(load("limits").source, Source::kFile);
  EXPECT_EQ(load("limits").devices[0].bytes, 10 * kOneMib);
  EXPECT_EQ(load("none").source, Source::kEnvironment);
  EXPECT_EQ(load("limits/none").source, Source::kEnvironment) << "a folder of that path is no folder";
}

TEST_F(LoadLimits, AFileThatIsThereAndCannotBeUsedIsBad) {
  std::ofstream(folder_ + "/limits") << "nonsense";
  std::ofstream(folder_ + "/long") << std::string(1'000'000, 'x');
  std::filesystem::create_directory(folder_ + "/folder");
  for (const char* const name : {"limits", "long", "folder"})
    EXPECT_EQ(load(name).source, Source::kBad) << name;
}

}  // namespace
}  // namespace gpupool::limiter
