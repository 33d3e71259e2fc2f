// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "tests/integration/kube/api_fixture.h"

namespace gpupool::test {
namespace {

using base::ErrorCode;

TEST_F(ApiTest, CreatesAndGets) {
  const auto made = create_map("a", "one");
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_FALSE(made->metadata.uid.empty());
  const auto got = get_map("a");
  ASSERT_TRUE(got.has_value()) << got.error().message;
  EXPECT_EQ(got->metadata.uid, made->metadata.uid);
  EXPECT_EQ(got->data.at("k"), "one");
}

TEST_F(ApiTest, ListsInPages) {
  std::set<std::string> made;
  for (int i = 0; i < 5; ++i) {
    const std::string name = "page-" + std::to_string(i);
    const std::string body = R"({"metadata":{"name":")" + name + R"(","labels":{"paged":"yes"}}})";
    ASSERT_TRUE(client_->create(ConfigMap::kType, ns_, body, {}).has_value());
    made.insert(name);
  }
  kube::ListOptions options;
  options.label_selector = "paged in (yes)";
  options.limit = 2;
  const auto page = kube::decode<api::List<ConfigMap>>(client_->list(ConfigMap::kType, ns_, options, {}));
  ASSERT_TRUE(page.has_value()) << page.error().message;
  EXPECT_EQ(page->items.size(), 2U);
  EXPECT_FALSE(page->metadata.continue_token.empty());

  const auto all = kube::list<ConfigMap>(*client_, ns_, options, {});
  ASSERT_TRUE(all.has_value()) << all.error().message;
  std::set<std::string> listed;
  for (const ConfigMap& map : *all) listed.insert(map.metadata.name);
  EXPECT_EQ(all->size(), 5U);
  EXPECT_EQ(listed, made);
}

TEST_F(ApiTest, ListsOverAllNamespaces) {
  ASSERT_TRUE(create_map("a").has_value());
  kube::ListOptions options;
  options.field_selector = "metadata.namespace=" + ns_ + ",metadata.name=a";
  const auto all = kube::list<ConfigMap>(*client_, "", options, {});
  ASSERT_TRUE(all.has_value()) << all.error().message;
  ASSERT_EQ(all->size(), 1U);
  EXPECT_EQ(all->front().metadata.ns, ns_);
}

TEST_F(ApiTest, TypesWhatTheServerRefuses) {
  ASSERT_TRUE(create_map("a").has_value());
  const auto twice = create_map("a");
  ASSERT_FALSE(twice.has_value());
  EXPECT_EQ(twice.error().code, ErrorCode::kAlreadyExists);
  EXPECT_EQ(twice.error().reason, "AlreadyExists");

  const auto missing = get_map("missing");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().http_status, 404);
  EXPECT_TRUE(missing.error().message.starts_with("get ConfigMap " + ns_ + "/missing: "))
      << missing.error().message;

  EXPECT_EQ(create_map("Not-A-Name").error().code, ErrorCode::kInvalid);
  EXPECT_EQ(client_->create(ConfigMap::kType, ns_, "{", {}).error().code, ErrorCode::kBadRequest);
}

TEST_F(ApiTest, AKindThatIsNotInstalledIsNotAMissingObject) {
  constexpr api::ResourceType kUnknown{"gpupool.test", "v1", "things", "Thing", true};
  const auto answer = client_->get(kUnknown, key("a"), {});
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kBadRequest) << answer.error().message;
  EXPECT_EQ(answer.error().http_status, 404);
}

TEST_F(ApiTest, GetsPathsThatAreNoResources) {
  const auto ready = client_->get_path("/readyz", {});
  ASSERT_TRUE(ready.has_value()) << ready.error().message;
  EXPECT_EQ(*ready, "ok");
  EXPECT_NE(client_->get_path("/version", {})->find("gitVersion"), std::string::npos);
}

}  // namespace
}  // namespace gpupool::test
