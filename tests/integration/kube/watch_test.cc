// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <future>
#include <thread>

#include "kube/api_error.h"
#include "tests/integration/kube/api_fixture.h"

namespace gpupool::test {
namespace {

using base::ErrorCode;

constexpr std::chrono::seconds kHangLimit{30};

TEST_F(ApiTest, AWatchSeesEveryChangeInOrder) {
  const auto made = create_map("a", "one");
  ASSERT_TRUE(made.has_value()) << made.error().message;
  kube::WatchOptions options;
  options.field_selector = "metadata.name=a";
  options.timeout = kHangLimit;
  std::vector<std::string> seen;
  const auto end =
      client_->watch(ConfigMap::kType, ns_, options,
                     [&](std::string_view line) {
                       const auto event = base::json::read<WatchEvent>(line);
                       EXPECT_TRUE(event.has_value()) << line;
                       if (!event) return false;
                       if (event->type == "BOOKMARK") return true;
                       seen.push_back(event->type + " " + event->object.data.at("k"));
                       if (event->type == "ADDED") {
                         EXPECT_TRUE(client_->patch(ConfigMap::kType, key("a"), kube::PatchType::kMerge,
                                                    R"({"data":{"k":"two"}})", "", {}));
                       } else if (event->type == "MODIFIED") {
                         EXPECT_TRUE(client_->remove(ConfigMap::kType, key("a"), {}, {}));
                       }
                       return event->type != "DELETED";
                     },
                     {});
  EXPECT_TRUE(end.has_value()) << end.error().message;
  EXPECT_EQ(seen, (std::vector<std::string>{"ADDED one", "MODIFIED two", "DELETED two"}));
}

TEST_F(ApiTest, AWatchEndsByItselfWithSuccess) {
  kube::WatchOptions options;
  options.timeout = std::chrono::seconds(1);
  const auto end = client_->watch(ConfigMap::kType, ns_, options, [](std::string_view) { return true; }, {});
  EXPECT_TRUE(end.has_value()) << end.error().message;
}

TEST_F(ApiTest, AWatchIsCancelledAtOnce) {
  ASSERT_TRUE(create_map("a").has_value());
  std::promise<void> first_line;
  std::promise<base::Result<void>> ended;
  std::atomic<bool> told = false;
  std::jthread watcher([&](std::stop_token stop) {
    ended.set_value(client_->watch(
        ConfigMap::kType, ns_, {},
        [&](std::string_view) {
          if (!told.exchange(true)) first_line.set_value();
          return true;
        },
        stop));
  });
  ASSERT_EQ(first_line.get_future().wait_for(kHangLimit), std::future_status::ready);
  watcher.request_stop();
  // The server would end it after 300 s.
  auto result = ended.get_future();
  ASSERT_EQ(result.wait_for(kHangLimit), std::future_status::ready);
  const auto end = result.get();
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().code, ErrorCode::kCancelled) << end.error().message;
}

TEST_F(ApiTest, AVersionFromTheFutureIsTyped) {
  kube::ListOptions options;
  options.resource_version = "9000000000000000";
  const auto list = client_->list(ConfigMap::kType, ns_, options, {});
  ASSERT_FALSE(list.has_value());
  EXPECT_EQ(list.error().code, ErrorCode::kTooLargeVersion) << list.error().message;
}

}  // namespace
}  // namespace gpupool::test
