// SPDX-License-Identifier: Apache-2.0
#include "kube/request_path.h"

#include <gtest/gtest.h>

#include "tests/unit/kube/test_types.h"

namespace gpupool::kube {
namespace {

using test::kGpuJob;
using test::kNode;
using test::kPod;

TEST(RequestPath, CoreAndGroupAndScope) {
  EXPECT_EQ(*collection_path(kPod, "lab"), "/api/v1/namespaces/lab/pods");
  EXPECT_EQ(*collection_path(kPod, ""), "/api/v1/pods");
  EXPECT_EQ(*collection_path(kNode, ""), "/api/v1/nodes");
  EXPECT_EQ(*collection_path(kGpuJob, "lab"), "/apis/gpupool.dev/v1alpha1/namespaces/lab/gpujobs");
  EXPECT_EQ(*object_path(kNode, {"", "n1"}, ""), "/api/v1/nodes/n1");
  EXPECT_EQ(*object_path(kGpuJob, {"lab", "a.b"}, "status"),
            "/apis/gpupool.dev/v1alpha1/namespaces/lab/gpujobs/a.b/status");
}

TEST(RequestPath, NamesAreEncoded) {
  EXPECT_EQ(*object_path(kPod, {"lab", "a b?c#d"}, ""), "/api/v1/namespaces/lab/pods/a%20b%3Fc%23d");
  EXPECT_EQ(percent_encode("system:node/\xc3\xa9~"), "system%3Anode%2F%C3%A9~");
}

TEST(RequestPath, AKeyThatWouldAddressSomethingElseIsRefused) {
  for (const char* name : {"", ".", "..", "a/b", "a%2fb"}) {
    EXPECT_FALSE(object_path(kPod, {"lab", name}, "").has_value()) << name;
  }
  EXPECT_EQ(object_path(kPod, {"lab", ""}, "").error().code, base::ErrorCode::kInvalidArgument);
  EXPECT_FALSE(object_path(kPod, {"", "a"}, "").has_value());
  EXPECT_FALSE(object_path(kPod, {"..", "a"}, "").has_value());
  EXPECT_FALSE(object_path(kNode, {"lab", "a"}, "").has_value());
  EXPECT_FALSE(create_path(kPod, "").has_value());
  EXPECT_TRUE(create_path(kNode, "").has_value());
}

TEST(ListQuery, CarriesWhatIsSet) {
  EXPECT_EQ(list_query({}), "");
  EXPECT_EQ(
      list_query({.label_selector = "a in (b,c)",
                  .field_selector = "spec.nodeName=n",
                  .resource_version = "0",
                  .limit = 500}),
      "?labelSelector=a%20in%20%28b%2Cc%29&fieldSelector=spec.nodeName%3Dn&limit=500&resourceVersion=0");
}

TEST(ListQuery, AContinueTokenReplacesTheVersion) {
  EXPECT_EQ(list_query({.resource_version = "0", .limit = 2, .continue_token = "a=="}),
            "?limit=2&continue=a%3D%3D");
}

TEST(WatchQuery, AsksForBookmarksAndAnEnd) {
  EXPECT_EQ(watch_query({.resource_version = "12", .timeout = std::chrono::seconds(290)}),
            "?watch=true&allowWatchBookmarks=true&resourceVersion=12&timeoutSeconds=290");
}

}  // namespace
}  // namespace gpupool::kube
