// SPDX-License-Identifier: Apache-2.0
#include "device-plugin/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

namespace gpupool {
namespace {

using testing::HasSubstr;

// Sets a variable of the environment for the time of a test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Environment() { ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

std::variant<Options, int> parse(std::initializer_list<const char*> arguments) {
  std::vector<const char*> argv{"gpupool-device-plugin"};
  argv.insert(argv.end(), arguments);
  return parse_options(static_cast<int>(argv.size()), argv.data());
}

// What goes to stderr for arguments that are refused with status 2.
std::string refusal(std::initializer_list<const char*> arguments) {
  testing::internal::CaptureStderr();
  const auto parsed = parse(arguments);
  const auto text = testing::internal::GetCapturedStderr();
  const auto* const code = std::get_if<int>(&parsed);
  return code && *code == 2 ? text : "accepted";
}

TEST(OptionsTest, HasDefaultsForANode) {
  const auto options = std::get<Options>(parse({}));
  EXPECT_EQ(options.kubelet_directory, "/var/lib/kubelet");
  EXPECT_EQ(options.state_directory, "/var/lib/gpupool");
  EXPECT_EQ(options.nvml_library, "libnvidia-ml.so.1");
  EXPECT_TRUE(options.report);
  EXPECT_EQ(options.config, "");
  EXPECT_FALSE(options.given.device_split_count);
}

TEST(OptionsTest, TakesTheSplitFromFlags) {
  const auto options = std::get<Options>(parse(
      {"--device-split-count=4", "--device-memory-scaling", "1.5", "--device-core-scaling=2",
       "--resource-name=example.com/gpu", "--allocation-policy=spread", "--no-report", "--node-name=n1"}));
  const auto settings = settings::load("", options.given);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->split, (settings::Split{4, 1500, 2000}));
  EXPECT_EQ(settings->resource_name, "example.com/gpu");
  EXPECT_EQ(settings->policy, settings::Policy::kSpread);
  EXPECT_FALSE(options.report);
  EXPECT_EQ(options.node_name, "n1");
}

TEST(OptionsTest, TakesTheSplitFromTheEnvironmentAndFlagsWin) {
  const Environment count("DEVICE_SPLIT_COUNT", "7");
  const Environment memory("DEVICE_MEMORY_SCALING", "3");
  const Environment node("NODE_NAME", "from-environment");
  const auto options = std::get<Options>(parse({"--device-split-count=4"}));
  EXPECT_EQ(options.given.device_split_count, "4");
  EXPECT_EQ(options.given.device_memory_scaling, "3");
  EXPECT_EQ(options.node_name, "from-environment");
}

TEST(OptionsTest, NamesTheFlagOfABadValue) {
  EXPECT_THAT(refusal({"--device-split-count=0"}), HasSubstr("--device-split-count"));
  EXPECT_THAT(refusal({"--device-memory-scaling=-1"}), HasSubstr("--device-memory-scaling"));
  EXPECT_THAT(refusal({"--device-core-scaling=x"}), HasSubstr("--device-core-scaling"));
  EXPECT_THAT(refusal({"--resource-name=gpu"}), HasSubstr("--resource-name"));
  EXPECT_THAT(refusal({"--allocation-policy=best"}), HasSubstr("--allocation-policy"));
  EXPECT_THAT(refusal({"--mig=perhaps"}), HasSubstr("--mig"));
  EXPECT_THAT(refusal({"--log-level=loud"}), HasSubstr("--log-level"));
}

TEST(OptionsTest, NamesTheEnvironmentForABadValueOfIt) {
  const Environment count("DEVICE_SPLIT_COUNT", "many");
  EXPECT_THAT(refusal({}), HasSubstr("environment"));
}

TEST(OptionsTest, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(refusal({"--device-split-cuont=3"}), HasSubstr("--device-split-cuont"));
  EXPECT_THAT(refusal({"extra"}), HasSubstr("extra"));
}

TEST(OptionsTest, HelpAndVersionAreNoErrors) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(std::get<int>(parse({"--help"})), 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("--device-split-count"));
  testing::internal::CaptureStdout();
  EXPECT_EQ(std::get<int>(parse({"--version"})), 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("gpupool-device-plugin "));
}

}  // namespace
}  // namespace gpupool
