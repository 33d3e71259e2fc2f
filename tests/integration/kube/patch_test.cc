// SPDX-License-Identifier: Apache-2.0
#include "kube/patch.h"

#include "tests/integration/kube/api_fixture.h"

namespace gpupool::test {
namespace {

using base::ErrorCode;
using kube::json_pointer;
using kube::JsonPatch;
using kube::PatchType;

TEST_F(ApiTest, AJsonPatchOfAStaleVersionIsAConflict) {
  const auto made = create_map("a", "one");
  ASSERT_TRUE(made.has_value()) << made.error().message;
  const auto patch = [&](const std::string& value) {
    JsonPatch operations;
    operations.only_if_version(made->metadata.resource_version).replace(json_pointer({"data", "k"}), value);
    return client_->patch(ConfigMap::kType, key("a"), PatchType::kJson, operations.text(), "", {});
  };
  const auto first = patch("\"two\"");
  EXPECT_TRUE(first.has_value()) << first.error().message;
  const auto stale = patch("\"three\"");
  ASSERT_FALSE(stale.has_value());
  EXPECT_EQ(stale.error().code, ErrorCode::kConflict) << stale.error().message;
  EXPECT_EQ(get_map("a")->data.at("k"), "two");
}

TEST_F(ApiTest, AMergePatchOfAStaleVersionIsAConflict) {
  const auto made = create_map("a", "one");
  ASSERT_TRUE(made.has_value()) << made.error().message;
  const std::string body = R"({"metadata":{"resourceVersion":")" + made->metadata.resource_version +
                           R"("},"data":{"k":"two","new":"x"}})";
  const auto first = client_->patch(ConfigMap::kType, key("a"), PatchType::kMerge, body, "", {});
  EXPECT_TRUE(first.has_value()) << first.error().message;
  EXPECT_EQ(client_->patch(ConfigMap::kType, key("a"), PatchType::kMerge, body, "", {}).error().code,
            ErrorCode::kConflict);
  EXPECT_EQ(get_map("a")->data.at("new"), "x");
}

TEST_F(ApiTest, PointersAndValuesAreEscaped) {
  ASSERT_TRUE(create_map("a").has_value());
  JsonPatch operations;
  operations.add("/metadata/labels", "{}")
      .add(json_pointer({"metadata", "labels", "gpupool.dev/lease"}), base::json::quote("x.1"))
      .add(json_pointer({"data", "text"}), base::json::quote("line\n\"quoted\"\\"))
      .remove("/data/k");
  const auto patched =
      client_->patch(ConfigMap::kType, key("a"), PatchType::kJson, operations.text(), "", {});
  ASSERT_TRUE(patched.has_value()) << patched.error().message;
  const auto got = get_map("a");
  EXPECT_EQ(got->metadata.label("gpupool.dev/lease"), "x.1");
  EXPECT_EQ(got->data.at("text"), "line\n\"quoted\"\\");
  EXPECT_EQ(got->data.count("k"), 0U);
}

TEST_F(ApiTest, AFailedTestIsInvalidAndChangesNothing) {
  ASSERT_TRUE(create_map("a", "one").has_value());
  JsonPatch operations;
  operations.replace("/data/k", "\"two\"").test("/data/k", "\"other\"");
  const auto failed = client_->patch(ConfigMap::kType, key("a"), PatchType::kJson, operations.text(), "", {});
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error().code, ErrorCode::kInvalid) << failed.error().message;
  EXPECT_EQ(get_map("a")->data.at("k"), "one");
}

TEST_F(ApiTest, StatusIsWrittenApartFromTheRest) {
  // Named after the namespace, so that tests can run side by side.
  const api::ObjectKey node{"", ns_};
  const auto made = client_->create(kNode, "", R"({"metadata":{"name":")" + ns_ + R"("}})", {});
  ASSERT_TRUE(made.has_value()) << made.error().message;
  const auto patched = client_->patch(
      kNode, node, PatchType::kMerge,
      R"({"spec":{"unschedulable":true},"status":{"capacity":{"nvidia.com/gpu":"4"}}})", "status", {});
  EXPECT_TRUE(patched.has_value()) << patched.error().message;
  const auto got = client_->get(kNode, node, {});
  EXPECT_TRUE(got.has_value());
  EXPECT_NE(got->find(R"("nvidia.com/gpu":"4")"), std::string::npos) << *got;
  EXPECT_EQ(got->find("unschedulable\":true"), std::string::npos) << *got;
  EXPECT_TRUE(client_->remove(kNode, node, {}, {}).has_value());
}

}  // namespace
}  // namespace gpupool::test
