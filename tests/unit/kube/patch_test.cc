// SPDX-License-Identifier: Apache-2.0
#include "kube/patch.h"

#include <gtest/gtest.h>

namespace gpupool::kube {
namespace {

TEST(JsonPointer, EscapesTildeAndSlash) {
  EXPECT_EQ(json_pointer({"metadata", "labels", "gpupool.dev/lease"}), "/metadata/labels/gpupool.dev~1lease");
  EXPECT_EQ(json_pointer({"a~/b"}), "/a~0~1b");
  EXPECT_EQ(json_pointer({"spec", "taints", "-"}), "/spec/taints/-");
  EXPECT_EQ(json_pointer({}), "");
}

TEST(JsonPatch, WritesOperationsInOrder) {
  JsonPatch patch;
  EXPECT_TRUE(patch.empty());
  EXPECT_EQ(patch.text(), "[]");
  patch.only_if_version("12")
      .test("/a", "1")
      .add("/b/-", R"({"k":"v"})")
      .replace("/c", "null")
      .remove("/d/0");
  EXPECT_FALSE(patch.empty());
  EXPECT_EQ(
      patch.text(),
      R"([{"op":"replace","path":"/metadata/resourceVersion","value":"12"},{"op":"test","path":"/a","value":1},)"
      R"({"op":"add","path":"/b/-","value":{"k":"v"}},{"op":"replace","path":"/c","value":null},)"
      R"({"op":"remove","path":"/d/0"}])");
}

TEST(JsonPatch, QuotesPointers) {
  EXPECT_EQ(JsonPatch().remove(json_pointer({"a\"b"})).text(), R"([{"op":"remove","path":"/a\"b"}])");
}

}  // namespace
}  // namespace gpupool::kube
