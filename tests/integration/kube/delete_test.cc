// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/kube/api_fixture.h"

namespace gpupool::test {
namespace {

using base::ErrorCode;

TEST_F(ApiTest, DeletesOnlyTheObjectThatIsMeant) {
  const auto made = create_map("a");
  ASSERT_TRUE(made.has_value()) << made.error().message;
  kube::DeleteOptions options;
  options.uid = "00000000-0000-0000-0000-000000000000";
  const auto wrong_uid = client_->remove(ConfigMap::kType, key("a"), options, {});
  ASSERT_FALSE(wrong_uid.has_value());
  EXPECT_EQ(wrong_uid.error().code, ErrorCode::kConflict) << wrong_uid.error().message;
  options.uid = made->metadata.uid;
  options.resource_version = "1";
  EXPECT_EQ(client_->remove(ConfigMap::kType, key("a"), options, {}).error().code, ErrorCode::kConflict);
  EXPECT_TRUE(get_map("a").has_value());

  options.resource_version = made->metadata.resource_version;
  const auto right = client_->remove(ConfigMap::kType, key("a"), options, {});
  EXPECT_TRUE(right.has_value()) << right.error().message;
  EXPECT_EQ(get_map("a").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(client_->remove(ConfigMap::kType, key("a"), {}, {}).error().code, ErrorCode::kNotFound);
}

struct PolicyCase {
  kube::Propagation propagation;
  const char* finalizer;  // what the server adds for the garbage collector; null: nothing
};

TEST_F(ApiTest, PropagationReachesTheServer) {
  const std::array cases{PolicyCase{kube::Propagation::kBackground, nullptr},
                         PolicyCase{kube::Propagation::kForeground, "foregroundDeletion"},
                         PolicyCase{kube::Propagation::kOrphan, "orphan"}};
  for (const PolicyCase& c : cases) {
    // Our own finalizer keeps the object there to be seen; a watch sees the other one before the collector
    // takes it off.
    const std::string body = R"({"metadata":{"name":"a","finalizers":["gpupool.test/hold"]}})";
    const auto made = kube::decode<ConfigMap>(client_->create(ConfigMap::kType, ns_, body, {}));
    ASSERT_TRUE(made.has_value()) << made.error().message;
    kube::DeleteOptions options;
    options.propagation = c.propagation;
    ASSERT_TRUE(client_->remove(ConfigMap::kType, key("a"), options, {}).has_value());

    kube::WatchOptions from_creation;
    from_creation.field_selector = "metadata.name=a";
    from_creation.resource_version = made->metadata.resource_version;
    from_creation.timeout = std::chrono::seconds(30);
    WatchEvent event;
    const auto end = client_->watch(ConfigMap::kType, ns_, from_creation,
                                    [&](std::string_view line) {
                                      event = base::json::read<WatchEvent>(line).value_or(WatchEvent{});
                                      return event.type == "BOOKMARK";
                                    },
                                    {});
    EXPECT_TRUE(end.has_value()) << end.error().message;
    EXPECT_TRUE(event.object.metadata.deleting());
    EXPECT_EQ(event.object.metadata.finalizers.size(), c.finalizer == nullptr ? 1U : 2U);
    if (c.finalizer != nullptr) {
      EXPECT_TRUE(event.object.metadata.has_finalizer(c.finalizer)) << c.finalizer;
    }

    const auto freed = client_->patch(ConfigMap::kType, key("a"), kube::PatchType::kMerge,
                                      R"({"metadata":{"finalizers":null}})", "", {});
    EXPECT_TRUE(freed.has_value()) << freed.error().message;
    EXPECT_EQ(get_map("a").error().code, ErrorCode::kNotFound);
  }
}

}  // namespace
}  // namespace gpupool::test
