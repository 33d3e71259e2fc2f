// SPDX-License-Identifier: Apache-2.0
#include "kube/config/file_token.h"
#include "tests/integration/kube/api_fixture.h"

namespace gpupool::test {
namespace {

using base::ErrorCode;

TEST_F(ApiTest, AMissingPermissionNamesTheRule) {
  kube::ClientOptions options;
  options.impersonate_user = "gpupool-nobody";
  options.impersonate_groups = {"system:authenticated"};
  const auto nobody = client_as(config_.tokens.get(), options);
  const auto get = nobody->get(ConfigMap::kType, key("a"), {});
  ASSERT_FALSE(get.has_value());
  EXPECT_EQ(get.error().code, ErrorCode::kForbidden);
  EXPECT_NE(
      get.error().message.find(
          R"({apiGroups: [""], resources: ["configmaps"], verbs: ["get"]} in a Role of namespace )" + ns_),
      std::string::npos)
      << get.error().message;
  const auto status = nobody->patch(kNode, {"", "n"}, kube::PatchType::kMerge, "{}", "status", {});
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find(R"(resources: ["nodes/status"], verbs: ["patch"]} in a ClusterRole)"),
            std::string::npos)
      << status.error().message;
  const auto watch = nobody->watch(kPod, "", {}, [](std::string_view) { return true; }, {});
  ASSERT_FALSE(watch.has_value());
  EXPECT_NE(watch.error().message.find(R"(resources: ["pods"], verbs: ["watch"]})"), std::string::npos)
      << watch.error().message;
}

TEST_F(ApiTest, AWrongTokenIsUnauthorized) {
  kube::FixedToken wrong("no-such-token");
  const auto stranger = client_as(&wrong);
  const auto get = stranger->get(ConfigMap::kType, key("a"), {});
  ASSERT_FALSE(get.has_value());
  EXPECT_EQ(get.error().code, ErrorCode::kUnauthorized) << get.error().message;
}

// A source whose first token is stale.
class RenewedToken final : public kube::TokenSource {
 public:
  explicit RenewedToken(kube::TokenSource& good) : good_(good) {}
  base::Result<std::string> token(std::stop_token stop) override {
    return renewed_ ? good_.token(std::move(stop)) : base::Result<std::string>("stale");
  }
  void invalidate(const std::string&) override { renewed_ = true; }

 private:
  kube::TokenSource& good_;
  bool renewed_ = false;
};

TEST_F(ApiTest, AStaleTokenIsReplacedWithinTheCall) {
  ASSERT_NE(config_.tokens, nullptr) << "this test needs a kubeconfig with a token";
  RenewedToken tokens(*config_.tokens);
  const auto renewing = client_as(&tokens);
  const auto made = renewing->create(ConfigMap::kType, ns_, R"({"metadata":{"name":"a"}})", {});
  EXPECT_TRUE(made.has_value()) << made.error().message;
}

}  // namespace
}  // namespace gpupool::test
