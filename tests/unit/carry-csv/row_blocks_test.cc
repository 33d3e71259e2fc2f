// SPDX-License-Identifier: Apache-2.0
// What lies across the end of a block that is read at a time.
#include <gmock/gmock.h>

#include "csv/byte_window.h"
#include "csv/row_reader.h"
#include "tests/unit/carry-csv/csv_folder.h"

namespace gpupool::carry::csv {
namespace {

using testing::HasSubstr;

TEST(RowBlocks, AnyByteMayBeTheLastOfABlock) {
  const CsvFolder folder;
  const std::string pattern = "x,\"a\"\"b\r\n\",€\r\n\"\",y,\"\"\"\"\r1,2,\xf0\x90\x8d\x88\n";
  for (std::size_t shift = 0; shift <= pattern.size(); ++shift) {
    const std::string pad(ByteWindow::kBlock - shift - 1, 'p');
    folder.write("a.csv", pad + "\n" + pattern + pattern);
    const auto source = folder.source("a.csv");
    RowReader reader(source, ',', 3, true, {});
    std::vector<std::string> seen;
    std::string scratch;
    while (reader.next() == RowStatus::kRow) {
      EXPECT_FALSE(reader.malformed());
      for (const auto& field : reader.fields()) seen.emplace_back(field.text(scratch));
    }
    EXPECT_EQ(reader.failure().message, "") << shift;
    ASSERT_EQ(seen.size(), 19U) << shift;
    EXPECT_EQ(seen[0].size(), pad.size());
    seen.erase(seen.begin());
    const std::vector<std::string> wanted = {"x", "a\"b\r\n",        "€", "", "y", "\"", "1",
                                             "2", "\xf0\x90\x8d\x88"};
    for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], wanted[i % wanted.size()]) << shift;
    EXPECT_EQ(reader.line(), 10) << shift;
  }
}

TEST(RowBlocks, BadTextIsFoundThereToo) {
  const CsvFolder folder;
  for (std::size_t shift = 0; shift < 4; ++shift) {
    folder.write("a.csv", std::string(ByteWindow::kBlock - shift, 'p') + "\xf0\x90\x8d,\n");
    const auto source = folder.source("a.csv");
    RowReader reader(source, ',', 3, true, {});
    EXPECT_EQ(reader.next(), RowStatus::kFailed);
    EXPECT_THAT(reader.failure().message,
                HasSubstr("byte " + std::to_string(ByteWindow::kBlock - shift) + " of the file"));
  }
}

TEST(RowBlocks, ALongRowIsReadUpTo16MiB) {
  const CsvFolder folder;
  const std::string half(8UL * 1024 * 1024 - 1, 'x');
  const auto status_of = [&](const std::string& text) {
    folder.write("a.csv", text);
    const auto source = folder.source("a.csv");
    RowReader reader(source, ',', 3, false, {});
    const auto status = reader.next();
    if (status == RowStatus::kFailed) {
      EXPECT_THAT(reader.failure().message, HasSubstr("line 1: a row of more than 16 MiB"));
    }
    return status;
  };
  EXPECT_EQ(status_of(half + "," + half + "\n"), RowStatus::kRow);
  EXPECT_EQ(status_of(half + "," + half + "," + half + "\n"), RowStatus::kFailed);
  EXPECT_EQ(status_of("\"" + half + "\n" + half + "\n" + half + "\n"), RowStatus::kFailed);
}

}  // namespace
}  // namespace gpupool::carry::csv
