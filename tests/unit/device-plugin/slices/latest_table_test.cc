// SPDX-License-Identifier: Apache-2.0
#include "slices/latest_table.h"

#include <gtest/gtest.h>

#include <thread>

namespace gpupool::slices {
namespace {

Table table_of(const std::string& name) {
  Table table;
  table.resources.push_back({name, settings::Policy::kPack, {}, {}});
  return table;
}

TEST(LatestTable, BeginsWithAnEmptyTable) {
  const LatestTable latest_table;
  EXPECT_EQ(latest_table.current().number, 0U);
  ASSERT_NE(latest_table.current().table, nullptr);
  EXPECT_TRUE(latest_table.current().table->resources.empty());
}

TEST(LatestTable, OnlyNewsGetANewVersion) {
  LatestTable latest_table;
  EXPECT_TRUE(latest_table.publish({}));  // that there is nothing is news, too
  EXPECT_EQ(latest_table.current().number, 1U);
  EXPECT_TRUE(latest_table.publish(table_of("a")));
  EXPECT_FALSE(latest_table.publish(table_of("a")));
  EXPECT_EQ(latest_table.current().number, 2U);
  EXPECT_TRUE(latest_table.publish(table_of("b")));
  EXPECT_EQ(latest_table.current().number, 3U);
  EXPECT_EQ(latest_table.current().table->resources.front().name, "b");
}

TEST(LatestTable, WhoIsBehindNeedNotWait) {
  LatestTable latest_table;
  latest_table.publish(table_of("a"));
  EXPECT_EQ(latest_table.wait_newer(0, {}).number, 1U);
}

TEST(LatestTable, StopEndsTheWait) {
  const LatestTable latest_table;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(latest_table.wait_newer(0, stop.get_token()).number, 0U);
}

TEST(LatestTable, EveryReaderSeesTheLastVersion) {
  LatestTable latest_table;
  constexpr std::uint64_t kVersions = 200;
  std::vector<std::uint64_t> last(4);
  {
    std::vector<std::jthread> readers;
    for (std::uint64_t& seen : last) {
      readers.emplace_back([&latest_table, &seen] {
        while (seen < kVersions) {
          const LatestTable::Version version = latest_table.wait_newer(seen, {});
          if (version.number <= seen || version.table->resources.size() != version.number) return;
          seen = version.number;
        }
      });
    }
    Table table;
    for (std::uint64_t i = 0; i < kVersions; ++i) {
      table.resources.push_back({"r", settings::Policy::kPack, {}, {}});
      latest_table.publish(table);
    }
  }
  for (const std::uint64_t seen : last) EXPECT_EQ(seen, kVersions);
}

}  // namespace
}  // namespace gpupool::slices
