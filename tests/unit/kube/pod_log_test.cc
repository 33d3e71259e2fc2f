// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kube/client.h"
#include "tests/unit/kube/fake_transport.h"
#include "tests/unit/kube/jumping_clock.h"

namespace gpupool::kube {
namespace {

class PodLogTest : public ::testing::Test {
 protected:
  base::Result<void> read(const LogOptions& options, std::size_t enough = 1000) {
    return client_.pod_log({"lab", "resnet-1-0"}, options,
                           [&](std::string_view piece) {
                             log_ += piece;
                             return log_.size() < enough;
                           },
                           {});
  }

  test::FakeTransport transport_;
  test::JumpingClock clock_;
  base::Metrics metrics_;
  Client client_{transport_, nullptr, clock_, metrics_, {}};
  std::string log_;
};

TEST_F(PodLogTest, AsksForWhatIsWanted) {
  transport_.pieces({});
  const base::WallTime since{std::chrono::milliseconds(1'767'323'045'900)};
  EXPECT_TRUE(read({.container = "train",
                    .follow = true,
                    .previous = true,
                    .timestamps = true,
                    .since = since,
                    .tail_lines = 10,
                    .silence = std::chrono::seconds(7)}));
  const auto request = transport_.sent().at(0);
  EXPECT_EQ(request.target,
            "/api/v1/namespaces/lab/pods/resnet-1-0/log?container=train&follow=true&previous=true&"
            "timestamps=true&sinceTime=2026-01-02T03%3A04%3A05Z&tailLines=10");
  EXPECT_FALSE(request.timeout.has_value());
  EXPECT_EQ(request.idle_timeout, std::chrono::seconds(7));
  EXPECT_EQ("*/*", test::header(request, "Accept"));
}

TEST_F(PodLogTest, BytesComeAsTheyAre) {
  transport_.pieces({"a\nb", "\n", "unfinished"});
  EXPECT_TRUE(read({}));
  EXPECT_EQ("a\nb\nunfinished", log_);
}

TEST_F(PodLogTest, TheReaderMayEndIt) {
  transport_.pieces({"a\n", "b\n", "c\n"});
  EXPECT_TRUE(read({}, 3));
  EXPECT_EQ("a\nb\n", log_);
}

TEST_F(PodLogTest, ABreakIsAnErrorAndIsNotRetried) {
  transport_.pieces({"a\n"}, base::fail(base::ErrorCode::kTransport, "reset"));
  const auto end = read({});
  ASSERT_FALSE(end);
  EXPECT_EQ(base::ErrorCode::kTransport, end.error().code);
  EXPECT_EQ("a\n", log_);
  EXPECT_EQ(1U, transport_.sent().size());
}

TEST_F(PodLogTest, ARefusalIsTyped) {
  transport_.answer(403, R"({"kind":"Status","reason":"Forbidden","message":"no","code":403})");
  const auto end = read({});
  ASSERT_FALSE(end);
  EXPECT_EQ(base::ErrorCode::kForbidden, end.error().code);
  EXPECT_EQ("get Pod/log lab/resnet-1-0: no", end.error().message);
  EXPECT_EQ("", log_);
}

}  // namespace
}  // namespace gpupool::kube
