// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/file_identity.h"
#include "kubelet/names.h"
#include "kubelet/plugin_server.h"
#include "tests/fake-kubelet/fake_kubelet.h"
#include "tests/fake-kubelet/fake_pod_resources.h"
#include "tests/unit/device-plugin/kubelet/plugin_on_node.h"

namespace gpupool::test {
namespace {

namespace fs = std::filesystem;
using kubelet::ResourcePlugin;
using Phase = ResourcePlugin::Phase;

class RegistrationTest : public testing::Test {
 protected:
  RegistrationTest() { node_.latest_table.publish(vgpu_table(2, 5)); }

  // All slices are healthy in the kubelet's eyes, and have been listed by a live stream.
  static bool complete(const FakeKubelet& kubelet) {
    return kubelet.connected(kVgpu) && kubelet.healthy(kVgpu).size() == 10;
  }
  std::string socket() const { return node_.plugins + "/" + kubelet::file_stem(kVgpu) + ".sock"; }

  Node node_;
  FakeKubelet kubelet_{node_.plugins};
};

// This kubelet dials back before it answers Register: a plugin that registers first would hang.
TEST_F(RegistrationTest, Checklist01ServesBeforeItRegisters) {
  kubelet_.start();
  const RunningPlugin plugin(node_);
  EXPECT_TRUE(kubelet_.wait(complete));
  EXPECT_EQ(kubelet_.registrations().size(), 1U);
}

TEST_F(RegistrationTest, Checklist01WorksWithAKubeletThatDialsLater) {
  kubelet_.dial_late(true);
  kubelet_.start();
  const RunningPlugin plugin(node_);
  EXPECT_TRUE(kubelet_.wait(complete));
}

TEST_F(RegistrationTest, Checklist02SaysTheSameOptionsInBothPlaces) {
  kubelet_.start();
  const RunningPlugin plugin(node_);
  ASSERT_TRUE(kubelet_.wait(complete));
  const auto registration = kubelet_.registrations().front();
  EXPECT_TRUE(registration.prefers);
  EXPECT_TRUE(registration.prefers_asked);
}

TEST_F(RegistrationTest, Checklist03RegistersAFileNameAndAnExtendedResource) {
  kubelet_.start();
  const RunningPlugin plugin(node_);
  ASSERT_TRUE(kubelet_.wait(complete));
  const auto registration = kubelet_.registrations().front();
  EXPECT_EQ(registration.version, "v1beta1");
  EXPECT_EQ(registration.resource, "gpupool.dev/vgpu");
  EXPECT_EQ(registration.endpoint.find('/'), std::string::npos);
  EXPECT_TRUE(fs::is_socket(node_.plugins + "/" + registration.endpoint));
}

TEST_F(RegistrationTest, Checklist05ComesBackAfterTheKubeletWasRestarted) {
  kubelet_.start();
  const RunningPlugin plugin(node_);
  ASSERT_TRUE(kubelet_.wait(complete));
  kubelet_.restart();
  EXPECT_TRUE(kubelet_.wait(complete));
}

TEST_F(RegistrationTest, Checklist05ComesBackAfterAKilledKubeletThatLeftItsSocket) {
  kubelet_.start();
  const RunningPlugin plugin(node_);
  ASSERT_TRUE(kubelet_.wait(complete));
  kubelet_.stop(true);
  ASSERT_TRUE(plugin.wait(Phase::kNoKubelet));
  kubelet_.start();
  EXPECT_TRUE(kubelet_.wait(complete));
}

TEST_F(RegistrationTest, Checklist05KnowsThatAKubeletHasEnded) {
  kubelet_.start();
  const RunningPlugin plugin(node_);
  ASSERT_TRUE(kubelet_.wait(complete));
  kubelet_.stop();
  EXPECT_TRUE(plugin.wait(Phase::kNoKubelet));
}

TEST_F(RegistrationTest, Checklist05ServesAnewWhenItsSocketIsRemoved) {
  kubelet_.start();
  const RunningPlugin plugin(node_);
  ASSERT_TRUE(kubelet_.wait(complete));
  kubelet_.wipe_plugin_sockets();
  EXPECT_TRUE(kubelet_.wait([](const auto& kubelet) { return kubelet.registrations().size() >= 2; }));
  EXPECT_TRUE(kubelet_.wait(complete));
  EXPECT_TRUE(fs::is_socket(socket()));
}

TEST_F(RegistrationTest, Checklist06WaitsForTheKubeletAndItsFolder) {
  fs::remove_all(node_.plugins);
  const RunningPlugin plugin(node_);
  kubelet_.registrations();
  fs::create_directories(node_.plugins);
  ASSERT_TRUE(plugin.wait(Phase::kNoKubelet));
  kubelet_.start();
  EXPECT_TRUE(kubelet_.wait(complete));
}

TEST_F(RegistrationTest, Checklist06TriesAgainWhenTheKubeletRefuses) {
  kubelet_.refuse_with("not now");
  kubelet_.start();
  const RunningPlugin plugin(node_);
  ASSERT_TRUE(plugin.wait(Phase::kRefused));
  EXPECT_THAT(plugin.status().detail, testing::HasSubstr("not now"));
  kubelet_.refuse_with("");
  EXPECT_TRUE(kubelet_.wait(complete));
}

TEST_F(RegistrationTest, Checklist07RegistersAgainWhenTheKubeletDropsIt) {
  kubelet_.start();
  const RunningPlugin plugin(node_);
  ASSERT_TRUE(kubelet_.wait(complete));
  const auto before = base::identify(socket());
  kubelet_.drop(kVgpu);
  EXPECT_TRUE(kubelet_.wait([](const auto& kubelet) { return kubelet.registrations().size() >= 2; }));
  EXPECT_TRUE(kubelet_.wait(complete));
  EXPECT_NE(base::identify(socket()), before) << "the old server was not ended before";
}

// The stream of the wiped socket ends late and takes the new registration of the same resource with it.
TEST_F(RegistrationTest, Checklist07SurvivesAnOldStreamThatEndsLate) {
  kubelet_.late_stream_end(true);
  kubelet_.start();
  const RunningPlugin plugin(node_);
  ASSERT_TRUE(kubelet_.wait(complete));
  kubelet_.wipe_plugin_sockets();
  ASSERT_TRUE(kubelet_.wait([](const auto& kubelet) { return kubelet.registrations().size() >= 2; }));
  EXPECT_TRUE(kubelet_.wait(complete));
}

TEST_F(RegistrationTest, Checklist18WaitsForThePluginThatServesTheResource) {
  kubelet_.start();
  RunningPlugin first(node_);
  ASSERT_TRUE(kubelet_.wait(complete));
  const RunningPlugin second(node_);
  ASSERT_TRUE(second.wait(Phase::kOtherPlugin));
  for (int restarts = 1; restarts <= 5; ++restarts) {
    kubelet_.restart();
    ASSERT_TRUE(kubelet_.wait(complete));
    EXPECT_EQ(second.status().phase, Phase::kOtherPlugin);
  }
  EXPECT_EQ(kubelet_.registrations().size(), 6U) << "only one of them registers";
  first.stop();
  EXPECT_TRUE(second.wait(Phase::kRegistered));
  EXPECT_TRUE(kubelet_.wait(complete));
}

TEST_F(RegistrationTest, Checklist18DoesNotFightAnotherVendorsPlugin) {
  FakePodResources pods(node_.folder.path() + "/pod-resources/kubelet.sock");
  pods.allocatable({{kVgpu, {"GPU-0::0"}}});
  kubelet_.start();
  const RunningPlugin plugin(node_);
  ASSERT_TRUE(kubelet_.wait(complete));
  pods.allocatable({{kVgpu, {"theirs-1", "theirs-2"}}});
  kubelet_.drop(kVgpu);
  EXPECT_TRUE(plugin.wait(Phase::kDisplaced));
  EXPECT_EQ(kubelet_.registrations().size(), 1U);
}

TEST_F(RegistrationTest, Checklist19ReplacesAStaleSocket) {
  {
    FakePodResources dead(socket());
    fs::rename(socket(), socket() + ".kept");
  }
  fs::rename(socket() + ".kept", socket());
  const auto stale = base::identify(socket());
  ASSERT_TRUE(base::is_socket(socket()));
  const RunningPlugin plugin(node_);
  ASSERT_TRUE(plugin.wait(Phase::kNoKubelet));
  EXPECT_NE(base::identify(socket()), stale);
  kubelet_.start();
  EXPECT_TRUE(kubelet_.wait(complete));
}

TEST_F(RegistrationTest, Checklist19RemovesNothingThatIsNoSocket) {
  std::ofstream(socket()) << "precious";
  const RunningPlugin plugin(node_);
  kubelet_.start();
  ASSERT_TRUE(plugin.wait(Phase::kStarting));
  EXPECT_TRUE(fs::is_regular_file(socket()));
}

TEST_F(RegistrationTest, Checklist22EndsWithoutAnEmptyListAndWithoutItsSocket) {
  kubelet_.start();
  RunningPlugin plugin(node_);
  ASSERT_TRUE(kubelet_.wait(complete));
  plugin.stop();
  EXPECT_TRUE(kubelet_.wait([](const auto& kubelet) { return !kubelet.connected(kVgpu); }));
  const auto devices = kubelet_.devices(kVgpu);
  ASSERT_TRUE(devices);
  EXPECT_EQ(devices->size(), 10U);  // capacity stays
  EXPECT_TRUE(kubelet_.healthy(kVgpu).empty());
  EXPECT_FALSE(fs::exists(socket()));
}

TEST_F(RegistrationTest, Checklist22LeavesTheSocketOfItsSuccessor) {
  auto server = kubelet::PluginServer::start(node_.context, kVgpu, socket(), [] {});
  ASSERT_TRUE(server) << server.error().message;
  fs::remove(socket());
  const FakePodResources successor(socket());
  const auto theirs = base::identify(socket());
  EXPECT_FALSE((*server)->in_place());
  server->reset();
  EXPECT_EQ(base::identify(socket()), theirs);
}

TEST_F(RegistrationTest, Checklist23TheFirstListIsComplete) {
  const RunningPlugin plugin(node_);
  ASSERT_TRUE(plugin.wait(Phase::kNoKubelet));
  kubelet_.start();
  ASSERT_TRUE(kubelet_.wait([](const auto& kubelet) { return kubelet.devices(kVgpu).has_value(); }));
  EXPECT_EQ(kubelet_.lists(kVgpu), 1U);
  EXPECT_EQ(kubelet_.healthy(kVgpu).size(), 10U);
}

TEST_F(RegistrationTest, Checklist26ItsFilesAreForRootAlone) {
  kubelet_.start();
  const RunningPlugin plugin(node_);
  ASSERT_TRUE(kubelet_.wait(complete));
  struct stat status{};
  ASSERT_EQ(::lstat(socket().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  ASSERT_EQ(::lstat((node_.plugins + "/" + kubelet::file_stem(kVgpu) + ".lock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

}  // namespace
}  // namespace gpupool::test
