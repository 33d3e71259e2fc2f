#include "slices/board.h"

#include <gtest/gtest.h>

#include <thread>

namespace gpupool::slices {
namespace {

Table table_of(const std::string& name) {
  Table table;
  table.resources.push_back({name, settings::Policy::kPack, {}, {}});
  return table;
}

TEST(Board, BeginsWithAnEmptyTable) {
  const Board board;
  EXPECT_EQ(board.current().number, 0U);
  ASSERT_NE(board.current().table, nullptr);
  EXPECT_TRUE(board.current().table->resources.empty());
}

TEST(Board, OnlyNewsGetANewVersion) {
  Board board;
  EXPECT_TRUE(board.publish({}));  // that there is nothing is news, too
  EXPECT_EQ(board.current().number, 1U);
  EXPECT_TRUE(board.publish(table_of("a")));
  EXPECT_FALSE(board.publish(table_of("a")));
  EXPECT_EQ(board.current().number, 2U);
  EXPECT_TRUE(board.publish(table_of("b")));
  EXPECT_EQ(board.current().number, 3U);
  EXPECT_EQ(board.current().table->resources.front().name, "b");
}

TEST(Board, WhoIsBehindNeedNotWait) {
  Board board;
  board.publish(table_of("a"));
  EXPECT_EQ(board.wait_newer(0, {}).number, 1U);
}

TEST(Board, StopEndsTheWait) {
  const Board board;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(board.wait_newer(0, stop.get_token()).number, 0U);
}

TEST(Board, EveryReaderSeesTheLastVersion) {
  Board board;
  constexpr std::uint64_t kVersions = 200;
  std::vector<std::uint64_t> last(4);
  {
    std::vector<std::jthread> readers;
    for (std::uint64_t& seen : last) {
      readers.emplace_back([&board, &seen] {
        while (seen < kVersions) {
          const Board::Version version = board.wait_newer(seen, {});
          if (version.number <= seen || version.table->resources.size() != version.number) return;
          seen = version.number;
        }
      });
    }
    Table table;
    for (std::uint64_t i = 0; i < kVersions; ++i) {
      table.resources.push_back({"r", settings::Policy::kPack, {}, {}});
      board.publish(table);
    }
  }
  for (const std::uint64_t seen : last) EXPECT_EQ(seen, kVersions);
}

}  // namespace
}  // namespace gpupool::slices
