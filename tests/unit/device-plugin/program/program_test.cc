// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/boot_file.h"
#include "agent/state_file.h"
#include "telemetry/busy_times.h"
#include "tests/fake-kubelet/fake_kubelet.h"
#include "tests/fake-kubelet/fake_pod_resources.h"
#include "tests/unit/device-plugin/kubelet/plugin_on_node.h"

extern char** environ;

namespace gpupool::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(30);

// The true program as a process, on a node whose driver is the simulated one.
class Program {
 public:
  Program(const std::string& node, const std::string& kubelet, const std::string& state,
          const std::vector<std::string>& more = {})
      : log_(node + "/" + std::to_string(++count_) + ".log") {
    std::vector<std::string> arguments{GPUPOOL_PLUGIN,
                                       "--no-report",
                                       "--node-name=n1",
                                       "--kubelet-directory=" + kubelet,
                                       "--state-directory=" + state,
                                       "--nvml-library=" GPUPOOL_FAKE_NVML_LIBRARY,
                                       "--config=" + node + "/plugin.yaml",
                                       "--metrics-bind-address=127.0.0.1:0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 2, log_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    EXPECT_EQ(::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ), 0);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  ~Program() {
    if (pid_ > 0) end(SIGKILL);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void send(int signal) const { ::kill(pid_, signal); }
  int wait() { return end(0); }
  // The exit status, or minus the signal that ended it.
  int end(int signal) {
    send(signal);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  std::string log() const {
    std::ifstream in(log_);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  static inline int count_ = 0;
  const std::string log_;
  pid_t pid_ = 0;
};

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    ::setenv("GPUPOOL_FAKE_NVML", driver_.c_str(), 1);
    configure("version: v1\ndeviceSplitCount: 4\n");
  }
  ~ProgramTest() override { ::unsetenv("GPUPOOL_FAKE_NVML"); }

  static void replace(const std::string& path, const std::string& text) {
    std::ofstream(path + ".new", std::ios::trunc) << text;
    fs::rename(path + ".new", path);
  }
  void configure(const std::string& yaml) const { replace(folder_.path() + "/plugin.yaml", yaml); }
  void install(const std::string& more = "") const {
    replace(driver_,
            R"({"node": "n1", "gpus": [{"count": 2, "model": "NVIDIA A100-SXM4-40GB"}])" + more + "}");
  }
  std::unique_ptr<Program> start(const std::vector<std::string>& more = {}) const {
    return std::make_unique<Program>(folder_.path(), kubelet_directory_, folder_.path() + "/state", more);
  }
  bool wait_healthy(std::size_t count) {
    return kubelet_.wait([&](const auto& kubelet) {
      return kubelet.connected(kVgpu) && kubelet.healthy(kVgpu).size() == count;
    });
  }
  static bool wait_log(const Program& program, const std::string& text) {
    for (const auto deadline = Clock::now() + kPatience; Clock::now() < deadline;
         std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      if (program.log().find(text) != std::string::npos) return true;
    }
    return false;
  }

  // The counters of the only GPU, once it was sampled for longer than that.
  std::optional<telemetry::BusyTime> wait_sampled(base::Duration longer_than) const {
    const agent::BootFile file(folder_.path() + "/state/usage.json");
    for (const auto deadline = Clock::now() + kPatience; Clock::now() < deadline; std::this_thread::yield()) {
      const auto text = file.read();
      telemetry::BusyTimes times;
      if (!text || !*text || !times.restore(**text, agent::read_boot_id())) continue;
      if (times.all().size() != 1) continue;
      const auto& found = times.all().begin()->second;
      if (found.sampled > longer_than) return found;
    }
    return std::nullopt;
  }

  TemporaryFolder folder_;
  const std::string driver_ = folder_.path() + "/driver.json";
  const std::string kubelet_directory_ = folder_.path() + "/kubelet";
  FakeKubelet kubelet_{kubelet_directory_ + "/device-plugins"};
  FakePodResources pods_{kubelet_directory_ + "/pod-resources/kubelet.sock"};
};

TEST_F(ProgramTest, AdvertisesAllocatesAndEnds) {
  install();
  kubelet_.start();
  const auto program = start();
  ASSERT_TRUE(wait_healthy(8)) << program->log();
  const auto id = kubelet_.healthy(kVgpu).front();
  const auto reply = kubelet_.client(kVgpu).allocate({id});
  ASSERT_TRUE(reply.ok()) << reply.message;
  EXPECT_EQ(reply.response.container_responses(0).envs().at("NVIDIA_VISIBLE_DEVICES"),
            id.substr(0, id.find("::")));
  EXPECT_EQ(program->end(SIGTERM), 0) << program->log();
  EXPECT_THAT(program->log(), HasSubstr("\"msg\":\"stopped\""));
  for (const auto& entry : fs::directory_iterator(kubelet_directory_ + "/device-plugins")) {
    EXPECT_TRUE(!entry.is_socket() || entry.path().filename() == "kubelet.sock") << entry.path();
  }
}

TEST_F(ProgramTest, FindsTheDriverWhenItAppears) {
  kubelet_.start();
  const auto program = start();
  ASSERT_TRUE(wait_log(*program, "No GPU driver")) << program->log();
  EXPECT_TRUE(kubelet_.registrations().empty());
  install();
  EXPECT_TRUE(wait_healthy(8)) << program->log();
}

TEST_F(ProgramTest, Checklist16ReplacesOneThatWasKilledWhilePodsRun) {
  install();
  kubelet_.start();
  auto program = start();
  ASSERT_TRUE(wait_healthy(8)) << program->log();
  pods_.hold({{"team", "train-0", "main", kVgpu, {kubelet_.healthy(kVgpu).front()}}});
  EXPECT_EQ(program->end(SIGKILL), -SIGKILL);
  ASSERT_TRUE(kubelet_.wait([](const auto& kubelet) { return kubelet.healthy(kVgpu).empty(); }));
  EXPECT_EQ(kubelet_.devices(kVgpu)->size(), 8U);
  configure("version: v1\ndeviceSplitCount: 2\n");
  program = start();
  EXPECT_TRUE(wait_healthy(3)) << "one old slice and the two of the other GPU: " << program->log();
}

TEST_F(ProgramTest, AKilledOneHasNotForgottenHowBusyGpusWere) {
  replace(driver_, R"({"node": "n1", "gpus": [{"model": "NVIDIA A100-SXM4-40GB", "utilization": 50}]})");
  kubelet_.start();
  auto program = start();
  const auto first = wait_sampled({});
  ASSERT_TRUE(first) << program->log();
  EXPECT_EQ(program->end(SIGKILL), -SIGKILL);
  program = start();
  const auto second = wait_sampled(first->sampled);
  ASSERT_TRUE(second) << program->log();
  EXPECT_EQ(second->since, first->since);
  EXPECT_LE(second->sampled / 2 - second->busy, std::chrono::microseconds(1));
}

TEST_F(ProgramTest, Checklist18TheNewOneOfAnUpgradeTakesOver) {
  install();
  kubelet_.start();
  const auto old = start();
  ASSERT_TRUE(wait_healthy(8)) << old->log();
  const auto upgraded = start();
  ASSERT_TRUE(wait_log(*upgraded, "takes over when it ends")) << upgraded->log();
  EXPECT_EQ(kubelet_.registrations().size(), 1U);
  EXPECT_EQ(old->end(SIGTERM), 0);
  EXPECT_TRUE(kubelet_.wait([](const auto& kubelet) { return kubelet.registrations().size() == 2; }));
  EXPECT_TRUE(wait_healthy(8)) << upgraded->log();
}

TEST_F(ProgramTest, Checklist20AnXidReachesTheKubelet) {
  install();
  kubelet_.start();
  const auto program = start();
  ASSERT_TRUE(wait_healthy(8)) << program->log();
  install(R"(, "xids": [{"sequence": 1, "gpu": 1, "xid": 79}])");
  EXPECT_TRUE(wait_healthy(4)) << program->log();
}

TEST_F(ProgramTest, Checklist28ReloadsOnAChangeAndOnHangup) {
  install();
  kubelet_.start();
  const auto program = start();
  ASSERT_TRUE(wait_healthy(8)) << program->log();
  configure("version: v1\ndeviceSplitCount: 6\n");
  ASSERT_TRUE(wait_healthy(12)) << program->log();
  configure("version: v1\ndeviceSplitCount: rubbish\n");
  ASSERT_TRUE(wait_log(*program, "Bad configuration")) << program->log();
  program->send(SIGHUP);
  EXPECT_TRUE(wait_healthy(12)) << program->log();
  EXPECT_EQ(kubelet_.registrations().size(), 1U);
  EXPECT_EQ(program->end(SIGTERM), 0) << program->log();
}

// As the chart starts it: an init container with the first flag, then the plugin without it.
TEST_F(ProgramTest, InstallsTheLimiterGivesItToContainersAndSaysWhereItIsOff) {
  install();
  kubelet_.start();
  configure("version: v1\ndeviceSplitCount: 4\nenforce: library\n");
  const std::vector<std::string> folders{"--limiter-directory=" + folder_.path() + "/limiter",
                                         "--regions-directory=" + folder_.path() + "/regions"};
  ASSERT_EQ(start({folders[0], "--install-limiter=" GPUPOOL_LIMITER_FOLDER})->wait(), 0);
  const auto program = start(folders);
  ASSERT_TRUE(wait_healthy(8)) << program->log();
  const auto id = kubelet_.healthy(kVgpu).front();
  const auto reply = kubelet_.client(kVgpu).allocate({id});
  ASSERT_TRUE(reply.ok()) << reply.message;
  std::map<std::string, std::string> mounts;
  for (const auto& mount : reply.response.container_responses(0).mounts()) {
    EXPECT_TRUE(fs::is_regular_file(mount.host_path())) << mount.host_path();
    EXPECT_EQ(mount.read_only(), mount.container_path() != "/run/gpupool/region") << mount.container_path();
    mounts[mount.container_path()] = mount.host_path();
  }
  EXPECT_EQ(mounts.size(), 6U);
  EXPECT_GT(fs::file_size(mounts.at("/usr/local/lib/gpupool/libgpupool-vgpu.so")), 10'000U);
  fs::resize_file(mounts.at("/run/gpupool/region"), 100);
  pods_.hold({{"team", "train-0", "main", kVgpu, {id}}});
  EXPECT_TRUE(wait_log(*program, "Limits of a container are not enforced")) << program->log();
  EXPECT_THAT(program->log(), HasSubstr("team/train-0 (main)"));
  EXPECT_EQ(program->end(SIGTERM), 0) << program->log();
}

TEST_F(ProgramTest, ALimiterThatIsNotInstalledIsAnError) {
  const std::string to = "--limiter-directory=" + folder_.path() + "/limiter";
  const auto program = start({to, "--install-limiter=" + folder_.path() + "/none"});
  EXPECT_NE(program->wait(), 0);
  EXPECT_THAT(program->log(), HasSubstr(folder_.path() + "/none"));
  EXPECT_NE(start({"--install-limiter=" GPUPOOL_LIMITER_FOLDER})->wait(), 0);  // to nowhere
}

// K = 1: whole GPUs under another name. The kubelet is told that the old resource has no devices any more.
TEST_F(ProgramTest, AResourceGoesAndAnotherComes) {
  install();
  kubelet_.start();
  const auto program = start();
  ASSERT_TRUE(wait_healthy(8)) << program->log();
  configure("version: v1\ndeviceSplitCount: 1\n");
  EXPECT_TRUE(kubelet_.wait([](const auto& kubelet) {
    return kubelet.healthy("nvidia.com/gpu").size() == 2;
  })) << program->log();
  EXPECT_TRUE(kubelet_.wait([](const auto& kubelet) {
    const auto devices = kubelet.devices(kVgpu);
    return devices && devices->empty() && !kubelet.connected(kVgpu);
  })) << program->log();
}

}  // namespace
}  // namespace gpupool::test
