// SPDX-License-Identifier: Apache-2.0
#include "slices/saved_table.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/device-plugin/slices/builders.h"

namespace gpupool::slices {
namespace {

TEST(SavedTable, ComesBackAsItWas) {
  inventory::Inventory inventory = test::machine(3);
  inventory.gpus[2].mig_enabled = true;
  inventory.gpus[2].numa_node = 1;
  inventory.gpus[2].mig_instances = {{"MIG-a", "3g.20gb", 20096, 1, 0}};
  settings::Settings settings = test::split(2, 1500);
  settings.mig = true;
  Circumstances circumstances = test::after({});
  circumstances.unhealthy[test::uuid(1)] = "Xid79: \"off\" the\nbus \xff";
  Table table = test::plan(inventory, settings, circumstances).table;
  ASSERT_EQ(table.resources.size(), 2U);
  const auto restored = restore(save(table));
  ASSERT_TRUE(restored.has_value()) << restored.error().message;
  // Bytes that are no UTF-8 are the only thing that JSON cannot keep.
  for (Slice& slice : table.resources[0].slices) {
    if (!slice.healthy) slice.unhealthy_reason = "Xid79: \"off\" the\nbus \xef\xbf\xbd";
  }
  EXPECT_EQ(*restored, table);
}

TEST(SavedTable, AnEmptyOne) {
  const auto restored = restore(save({}));
  ASSERT_TRUE(restored.has_value());
  EXPECT_EQ(*restored, Table{});
}

TEST(SavedTable, WhatWasCutOffOrIsOfAnotherFormatIsAnError) {
  const std::string text = save(test::plan(test::machine(1), test::split(2), test::after({})).table);
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    const auto restored = restore(text.substr(0, length));
    ASSERT_FALSE(restored.has_value()) << length;
    ASSERT_EQ(restored.error().code, base::ErrorCode::kParse);
  }
  EXPECT_FALSE(restore(R"({"format": 2, "resources": []})").has_value());
  EXPECT_FALSE(restore("{}").has_value());
}

TEST(SavedTable, NumbersThatNoGpuHasAreAnError) {
  const auto restored = restore(
      R"({"format":1,"resources":[{"name":"r","slices":[{"id":"a","memoryMiB":9223372036854775807}]}]})");
  ASSERT_FALSE(restored.has_value());
  EXPECT_EQ(restored.error().code, base::ErrorCode::kParse);
  EXPECT_FALSE(
      restore(R"({"format":1,"resources":[{"gpus":[{"splitCount":-9223372036854775807}]}]})").has_value());
}

RC_GTEST_PROP(SavedTableProperty, AnyTextIsAnswered, (const std::string& text)) {
  const auto restored = restore(text);
  if (!restored) RC_ASSERT(restored.error().code == base::ErrorCode::kParse);
}

}  // namespace
}  // namespace gpupool::slices
