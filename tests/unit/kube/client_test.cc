// SPDX-License-Identifier: Apache-2.0
#include "kube/client.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/kube/fake_transport.h"
#include "tests/unit/kube/jumping_clock.h"
#include "tests/unit/kube/test_types.h"

namespace gpupool::test {

struct Thing {
  static constexpr api::ResourceType kType = kPod;
  api::ObjectMeta metadata;
};

}  // namespace gpupool::test

template <>
struct gpupool::base::json::Schema<gpupool::test::Thing> {
  using T = test::Thing;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata")};
};

namespace gpupool::kube {
namespace {

using base::ErrorCode;
using test::kGpuJob;
using test::kPod;

class ClientTest : public ::testing::Test {
 protected:
  test::FakeTransport transport_;
  test::JumpingClock clock_;
  base::Metrics metrics_;
  Client client_{transport_, nullptr, clock_, metrics_, {}};
};

TEST_F(ClientTest, EachCallSpeaksItsMethodPathAndType) {
  for (int i = 0; i < 6; ++i) transport_.answer(200, "{}");
  EXPECT_TRUE(client_.get(kPod, {"lab", "a"}, {}));
  EXPECT_TRUE(client_.list(kPod, "lab", {.limit = 2}, {}));
  EXPECT_TRUE(client_.create(kPod, "lab", R"({"a":1})", {}));
  EXPECT_TRUE(client_.remove(kPod, {"lab", "a"}, {}, {}));
  EXPECT_TRUE(client_.patch(kGpuJob, {"lab", "j"}, PatchType::kMerge, "{}", "status", {}));
  EXPECT_TRUE(client_.patch(kPod, {"lab", "a"}, PatchType::kJson, "[]", "", {}));
  const auto sent = transport_.sent();
  const std::array<std::array<const char*, 3>, 6> expected{{
      {"GET", "/api/v1/namespaces/lab/pods/a", ""},
      {"GET", "/api/v1/namespaces/lab/pods?limit=2", ""},
      {"POST", "/api/v1/namespaces/lab/pods", "application/json"},
      {"DELETE", "/api/v1/namespaces/lab/pods/a", "application/json"},
      {"PATCH", "/apis/gpupool.dev/v1alpha1/namespaces/lab/gpujobs/j/status", "application/merge-patch+json"},
      {"PATCH", "/api/v1/namespaces/lab/pods/a", "application/json-patch+json"},
  }};
  ASSERT_EQ(sent.size(), expected.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].method, expected[i][0]);
    EXPECT_EQ(sent[i].target, expected[i][1]);
    EXPECT_EQ(test::header(sent[i], "Content-Type"), expected[i][2]);
    EXPECT_EQ(test::header(sent[i], "Accept"), "application/json");
  }
  EXPECT_EQ(sent[2].body, R"({"a":1})");
}

TEST_F(ClientTest, ABadKeyNeverReachesTheServer) {
  EXPECT_EQ(client_.remove(kPod, {"lab", ""}, {}, {}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(client_.get(kPod, {"", "a"}, {}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(client_.create(kPod, "", "{}", {}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(client_.get_path("readyz", {}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(transport_.sent().empty());
}

TEST_F(ClientTest, AnAnswerThatIsNoWholeObjectIsAnError) {
  for (const char* body : {"", "ok", R"({"kind":"Pod","metadata":{"name":)", "[]"}) {
    transport_.answer(200, body);
    EXPECT_EQ(client_.get(kPod, {"lab", "a"}, {}).error().code, ErrorCode::kParse) << body;
  }
  transport_.answer(200, " {} \n");
  EXPECT_TRUE(client_.get(kPod, {"lab", "a"}, {}).has_value());
}

TEST_F(ClientTest, APathMayAnswerText) {
  transport_.answer(200, "ok");
  EXPECT_EQ(*client_.get_path("/readyz", {}), "ok");
}

TEST_F(ClientTest, ADeleteMayBeAcceptedForLater) {
  transport_.answer(202, "");
  EXPECT_TRUE(client_.remove(kPod, {"lab", "a"}, {}, {}).has_value());
}

TEST_F(ClientTest, TypedListReadsAllPages) {
  transport_.answer(
      200, R"({"metadata":{"resourceVersion":"5","continue":"tok"},"items":[{"metadata":{"name":"a"}}]})");
  transport_.answer(200, R"({"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"b"}}]})");
  const auto all = list<test::Thing>(client_, "lab", {.resource_version = "0", .limit = 1}, {});
  ASSERT_TRUE(all.has_value()) << all.error().message;
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ((*all)[1].metadata.name, "b");
  EXPECT_EQ(transport_.sent()[1].target, "/api/v1/namespaces/lab/pods?limit=1&continue=tok");
}

TEST_F(ClientTest, ATruncatedListIsNeverAShorterList) {
  // Cut so that it still passes the check of braces.
  transport_.answer(200, R"({"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a"}})");
  EXPECT_EQ(list<test::Thing>(client_, "lab", {}, {}).error().code, ErrorCode::kParse);
  transport_.answer(200, R"({"items":[]})");
  EXPECT_EQ(list<test::Thing>(client_, "lab", {}, {}).error().code, ErrorCode::kParse);
}

}  // namespace
}  // namespace gpupool::kube
