// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <grpcpp/support/status_code_enum.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "enforcement/region_use.h"
#include "tests/unit/device-plugin/kubelet/served_plugin.h"

namespace gpupool::test {
namespace {

namespace fs = std::filesystem;
using grpc::StatusCode;
using testing::HasSubstr;

// The same for equal messages: their maps in order.
std::string in_order(const google::protobuf::MessageLite& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&out);
  out.Trim();
  return bytes;
}

class AllocateTest : public ServedPlugin {
 protected:
  AllocateTest() { publish(); }

  static std::string content(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(node_.limits_directory)) all.push_back(entry.path());
    return all;
  }
};

TEST_F(AllocateTest, Checklist11AnswersTheFirstContainerWhateverTheOrderOfIds) {
  std::vector<std::string> ids{"GPU-0::0", "GPU-0::1", "GPU-0::2", "GPU-0::3"};
  const auto reply = client_->allocate(ids);
  ASSERT_TRUE(reply.ok()) << reply.message;
  ASSERT_EQ(reply.response.container_responses_size(), 1);
  const auto& envs = reply.response.container_responses(0).envs();
  EXPECT_EQ(envs.at("NVIDIA_VISIBLE_DEVICES"), "GPU-0");
  EXPECT_EQ(envs.at("CUDA_DEVICE_MEMORY_LIMIT_0"), "9600m");
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(ids.begin(), ids.end(), random);
    EXPECT_EQ(in_order(client_->allocate(ids).response), in_order(reply.response));
  }
}

TEST_F(AllocateTest, Checklist11TheLimitsFileIsThereBeforeTheAnswer) {
  const auto reply = client_->allocate({"GPU-0::0"});
  ASSERT_TRUE(reply.ok()) << reply.message;
  ASSERT_GT(reply.response.container_responses(0).mounts_size(), 0);
  for (const auto& mount : reply.response.container_responses(0).mounts()) {
    EXPECT_TRUE(fs::is_regular_file(mount.host_path())) << mount.host_path();
    EXPECT_TRUE(mount.read_only());
  }
}

class EnforcedAllocateTest : public AllocateTest {
 protected:
  EnforcedAllocateTest() {
    enforce(settings::Enforce::kLibrary);
    node_.rules.set({.settings = {},
                     .paths = {.limits_directory = node_.limits_directory,
                               .limiter_directory = "/opt/limiter",
                               .regions_directory = node_.regions.directory()},
                     .gpus = {}});
  }
  void enforce(settings::Enforce enforce) {
    auto table = vgpu_table(2, 5);
    for (auto& gpu : table.resources.front().gpus) gpu.enforcement.enforce = enforce;
    node_.latest_table.publish(std::move(table));
  }
  std::string region() {
    const auto reply = client_->allocate({"GPU-0::1"});
    EXPECT_TRUE(reply.ok()) << reply.message;
    for (const auto& mount : reply.response.container_responses(0).mounts()) {
      if (mount.container_path() == "/run/gpupool/region" && !mount.read_only()) return mount.host_path();
    }
    return {};
  }
};

TEST_F(EnforcedAllocateTest, EachAllocationGetsANewRegion) {
  const auto path = region();
  ASSERT_FALSE(path.empty());
  const auto before = enforcement::read_region(path);
  ASSERT_TRUE(before.has_value()) << before.error().message;
  ASSERT_EQ(before->devices.size(), 1U);
  const int old = ::open(path.c_str(), O_RDWR);
  ASSERT_GE(old, 0);
  ASSERT_TRUE(enforcement::refuse_wait(path, 0, 7).has_value());  // as if it had been used
  EXPECT_EQ(enforcement::read_region(path)->devices[0].refused_ticket, 7U);
  EXPECT_EQ(region(), path);
  EXPECT_EQ(enforcement::read_region(path)->devices[0].refused_ticket, 0U);
  // The container that had it keeps its file.
  struct stat status{};
  EXPECT_EQ(::fstat(old, &status), 0);
  EXPECT_EQ(status.st_nlink, 0U);
  ::close(old);
}

TEST_F(EnforcedAllocateTest, WithoutEnforcementNoFileSaysThatThereIsSome) {
  ASSERT_FALSE(region().empty());
  const auto name = allocation::enforced_limits_name(kVgpu, {"GPU-0::1"});
  EXPECT_TRUE(node_.limits.has(name));
  enforce(settings::Enforce::kNone);
  EXPECT_EQ(region(), "");
  EXPECT_FALSE(node_.limits.has(name));
}

TEST_F(EnforcedAllocateTest, WhereNoRegionCanBeMadeThePodIsRefused) {
  std::ofstream(node_.regions.directory()) << "a file in the place of the folder";
  const auto reply = client_->allocate({"GPU-0::1"});
  EXPECT_EQ(reply.code, StatusCode::INTERNAL);
  EXPECT_THAT(reply.message, HasSubstr(node_.regions.directory()));
}

TEST_F(AllocateTest, Checklist11AnswersManyAtATime) {
  std::vector<std::jthread> threads;
  std::atomic<int> failed{0};
  for (int gpu = 0; gpu < 2; ++gpu) {
    for (int slice = 0; slice < 5; ++slice) {
      threads.emplace_back([&, id = "GPU-" + std::to_string(gpu) + "::" + std::to_string(slice)] {
        for (int round = 0; round < 20; ++round) failed += client_->allocate({id}).ok() ? 0 : 1;
      });
    }
  }
  threads.clear();
  EXPECT_EQ(failed, 0);
}

TEST_F(AllocateTest, Checklist12TheSameIdsGetTheSameAnswerAlsoFromAnotherProcess) {
  const auto first = client_->allocate({"GPU-1::2", "GPU-1::4"});
  ASSERT_TRUE(first.ok()) << first.message;
  const auto content_before = content(files().front());
  EXPECT_EQ(in_order(client_->allocate({"GPU-1::2", "GPU-1::4"}).response), in_order(first.response));
  server_.reset();
  SetUp();
  EXPECT_EQ(in_order(client_->allocate({"GPU-1::2", "GPU-1::4"}).response), in_order(first.response));
  ASSERT_EQ(files().size(), 1U);
  EXPECT_EQ(content(files().front()), content_before);
}

TEST_F(AllocateTest, Checklist13RefusesAnUnknownId) {
  const auto reply = client_->allocate({"GPU-9::0"});
  EXPECT_EQ(reply.code, StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(reply.message, HasSubstr("GPU-9::0"));
}

TEST_F(AllocateTest, Checklist13RefusesADuplicateId) {
  const auto reply = client_->allocate({"GPU-0::1", "GPU-0::1"});
  EXPECT_EQ(reply.code, StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(reply.message, HasSubstr("twice"));
}

TEST_F(AllocateTest, Checklist13RefusesNoIdAtAll) {
  EXPECT_EQ(client_->allocate(std::vector<std::string>{}).code, StatusCode::INVALID_ARGUMENT);
}

TEST_F(AllocateTest, Checklist13RefusesAnUnhealthyDeviceAndSaysWhy) {
  node_.latest_table.publish(with_unhealthy_gpu(vgpu_table(2, 5), "GPU-0", "Xid79: fallen off the bus"));
  const auto reply = client_->allocate({"GPU-0::1"});
  EXPECT_EQ(reply.code, StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(reply.message, HasSubstr("fallen off the bus"));
  EXPECT_TRUE(client_->allocate({"GPU-1::1"}).ok());
}

TEST_F(AllocateTest, Checklist13RefusesSlicesOfMoreGpusThanNeeded) {
  EXPECT_EQ(client_->allocate({"GPU-0::0", "GPU-1::0"}).code, StatusCode::INVALID_ARGUMENT);
}

TEST_F(AllocateTest, Checklist13RefusesWhatIsNoLongerOffered) {
  node_.latest_table.publish({});
  const auto reply = client_->allocate({"GPU-0::0"});
  EXPECT_EQ(reply.code, StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(reply.message, HasSubstr(kVgpu));
}

TEST_F(AllocateTest, Checklist13ARefusalLeavesNoFile) {
  client_->allocate({"GPU-0::0", "GPU-0::0"});
  EXPECT_FALSE(fs::exists(node_.limits_directory) && !files().empty());
}

// Nobody counts: the devices of an init container are allocated again for the container that follows it.
TEST_F(AllocateTest, Checklist14GivesTheSameDevicesTwice) {
  const auto init = client_->allocate({"GPU-0::3"});
  const auto app = client_->allocate({"GPU-0::3"});
  ASSERT_TRUE(init.ok());
  ASSERT_TRUE(app.ok());
  EXPECT_EQ(in_order(init.response), in_order(app.response));
}

TEST_F(AllocateTest, Checklist15PreStartContainerHarmsNothing) {
  ASSERT_TRUE(client_->allocate({"GPU-0::3"}).ok());
  const auto before = content(files().front());
  EXPECT_TRUE(client_->pre_start({"GPU-0::3"}).ok());
  EXPECT_TRUE(client_->pre_start({"nonsense"}).ok());
  EXPECT_EQ(content(files().front()), before);
  EXPECT_FALSE(client_->options().response.pre_start_required());
}

TEST_F(AllocateTest, Checklist24ANewServerKeepsTheFilesOfRunningContainers) {
  ASSERT_TRUE(client_->allocate({"GPU-0::3"}).ok());
  const auto before = files();
  server_.reset();
  SetUp();
  ASSERT_TRUE(client_->allocate({"GPU-0::4"}).ok());
  for (const auto& path : before) EXPECT_TRUE(fs::exists(path)) << path;
}

TEST_F(AllocateTest, Checklist26LimitsFilesAreReadOnlyForAll) {
  ASSERT_TRUE(client_->allocate({"GPU-0::3"}).ok());
  struct stat status{};
  ASSERT_EQ(::stat(files().front().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0444U);
}

TEST_F(AllocateTest, AFileThatCannotBeWrittenIsAnErrorAndNoGrant) {
  std::ofstream(node_.limits_directory) << "in the way";
  const auto reply = client_->allocate({"GPU-0::3"});
  EXPECT_EQ(reply.code, StatusCode::INTERNAL);
  EXPECT_THAT(reply.message, HasSubstr(node_.limits_directory));
  EXPECT_EQ(reply.response.container_responses_size(), 0);
}

TEST_F(AllocateTest, AnswersSeveralContainersInOrder) {
  v1beta1::AllocateRequest request;
  request.add_container_requests()->add_devices_ids("GPU-1::0");
  request.add_container_requests()->add_devices_ids("GPU-0::0");
  const auto reply = client_->allocate(request);
  ASSERT_EQ(reply.response.container_responses_size(), 2);
  EXPECT_EQ(reply.response.container_responses(0).envs().at("NVIDIA_VISIBLE_DEVICES"), "GPU-1");
  EXPECT_EQ(reply.response.container_responses(1).envs().at("NVIDIA_VISIBLE_DEVICES"), "GPU-0");
}

TEST_F(AllocateTest, PrefersSlicesOfOneGpu) {
  std::vector<std::string> available;
  const auto table = vgpu_table(2, 5);
  for (const auto& slice : table.resources.front().slices) available.push_back(slice.id);
  const auto reply = client_->prefer(available, {"GPU-1::4"}, 3);
  ASSERT_TRUE(reply.ok()) << reply.message;
  const auto& ids = reply.response.container_responses(0).deviceids();
  EXPECT_EQ(ids.size(), 3);
  EXPECT_THAT(ids, testing::Contains("GPU-1::4"));
  EXPECT_THAT(ids, testing::Each(testing::StartsWith("GPU-1::")));
}

TEST_F(AllocateTest, PrefersNothingForANegativeNumber) {
  EXPECT_EQ(client_->prefer({"GPU-0::0"}, {}, -1).code, StatusCode::INVALID_ARGUMENT);
}

TEST_F(AllocateTest, CountsWhatItAnsweredAndRefused) {
  client_->allocate({"GPU-0::3"});
  client_->allocate({"GPU-0::9"});
  const auto text = node_.metrics.expose();
  EXPECT_THAT(text, HasSubstr("gpupool_plugin_allocate_seconds_count{resource=\"gpupool.dev/vgpu\"} 2"));
  EXPECT_THAT(text, HasSubstr("gpupool_plugin_allocate_refused_total{resource=\"gpupool.dev/vgpu\"} 1"));
}

// Bytes that no kubelet sends: random ones, true requests with bytes changed, and IDs full of rubbish.
TEST_F(AllocateTest, SurvivesGarbage) {
  auto* const log = google::protobuf::SetLogHandler(nullptr);  // it would complain 100 times
  std::mt19937 random(20260102);
  const auto byte = [&] { return static_cast<char>(random() & 0xffU); };
  v1beta1::AllocateRequest request;
  for (const auto* id : {"GPU-0::0", "GPU-0::1"}) request.add_container_requests()->add_devices_ids(id);
  const auto sound = request.SerializeAsString();
  for (int round = 0; round < 500; ++round) {
    std::string bytes = sound;
    if (round % 2 == 0) {
      bytes.resize(random() % 200);
      for (char& c : bytes) c = byte();
    } else {
      for (int changes = 0; changes < 3; ++changes) bytes[random() % bytes.size()] = byte();
    }
    client_->allocate_bytes(bytes);
  }
  for (int round = 0; round < 100; ++round) {
    v1beta1::AllocateRequest rubbish;
    rubbish.add_container_requests()->add_devices_ids("x");
    auto bytes = rubbish.SerializeAsString();
    bytes.back() = byte();  // not valid UTF-8 either
    client_->allocate_bytes(bytes);
    client_->allocate(std::vector<std::string>(random() % 50, "GPU-0::" + std::to_string(random())));
  }
  google::protobuf::SetLogHandler(log);
  EXPECT_TRUE(client_->allocate({"GPU-0::0"}).ok());
}

}  // namespace
}  // namespace gpupool::test
