// SPDX-License-Identifier: Apache-2.0
#include "settings/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace gpupool::settings {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class LoadSettings : public testing::Test {
 protected:
  LoadSettings() {
    std::string pattern = testing::TempDir() + "settings-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~LoadSettings() override { std::filesystem::remove_all(directory_); }

  std::string write(const std::string& text) const {
    const std::string path = directory_ + "/settings.yaml";
    std::ofstream(path) << text;
    return path;
  }

  std::string directory_;
};

TEST_F(LoadSettings, WithoutAFileTheDefaultsHold) {
  const auto settings = load("", {});
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(*settings, Settings{});
}

TEST_F(LoadSettings, WhatIsGivenWinsOverTheFileKeyByKey) {
  const std::string path = write("version: v1\ndeviceSplitCount: 4\nallocationPolicy: spread\nmig: true\n");
  Given given;
  given.device_split_count = "7";
  given.mig = "false";
  given.resource_name = "example.com/x";
  given.device_memory_scaling = "1.25";
  given.device_core_scaling = "2";
  const auto settings = load(path, given);
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->split, (Split{.count = 7, .memory_scaling = 1250, .core_scaling = 2000}));
  EXPECT_EQ(settings->policy, Policy::kSpread);
  EXPECT_EQ(settings->resource_name, "example.com/x");
  EXPECT_FALSE(settings->mig);
  given = {};
  given.policy = "distinct";
  EXPECT_EQ(load(path, given)->policy, Policy::kDistinct);
}

TEST_F(LoadSettings, ErrorsNameTheFile) {
  const std::string path = write("version: v1\nmig: 1\n");
  const auto settings = load(path, {});
  ASSERT_FALSE(settings.has_value());
  EXPECT_EQ(settings.error().code, base::ErrorCode::kInvalidArgument);
  EXPECT_THAT(settings.error().message, StartsWith(path + ": line 2: mig: "));
}

TEST_F(LoadSettings, AFileThatCannotBeReadIsNoDefault) {
  const auto missing = load(directory_ + "/none.yaml", {});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, base::ErrorCode::kIo);
  EXPECT_THAT(missing.error().message, HasSubstr("none.yaml: No such file"));
  const auto directory = load(directory_, {});
  ASSERT_FALSE(directory.has_value());
  EXPECT_THAT(directory.error().message, HasSubstr("is a directory"));
}

TEST_F(LoadSettings, BadFlagsNameTheFlag) {
  const auto error_of = [](std::optional<std::string> Given::* field, const std::string& text) {
    Given given;
    given.*field = text;
    const auto settings = load("", given);
    return settings ? std::string("accepted") : settings.error().message;
  };
  const std::string or_environment = " or its environment variable: must be ";
  EXPECT_THAT(error_of(&Given::resource_name, "vgpu"), StartsWith("--resource-name" + or_environment));
  EXPECT_THAT(error_of(&Given::policy, ""), StartsWith("--allocation-policy" + or_environment));
  EXPECT_THAT(error_of(&Given::device_split_count, "0"), StartsWith("--device-split-count" + or_environment));
  EXPECT_THAT(error_of(&Given::device_memory_scaling, "x"),
              StartsWith("--device-memory-scaling" + or_environment));
  EXPECT_THAT(error_of(&Given::device_core_scaling, "0"),
              StartsWith("--device-core-scaling" + or_environment));
  EXPECT_THAT(error_of(&Given::mig, "on"), StartsWith("--mig" + or_environment + "true or false"));
}

TEST_F(LoadSettings, MigByFlagNeedsAWayToPassItToo) {
  const std::string path = write("version: v1\npassing: {environment: false, deviceNodes: true}\n");
  Given given;
  given.mig = "true";
  const auto settings = load(path, given);
  ASSERT_FALSE(settings.has_value());
  EXPECT_THAT(settings.error().message, HasSubstr("needs passing.environment"));
}

}  // namespace
}  // namespace gpupool::settings
