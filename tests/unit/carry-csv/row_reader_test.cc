// SPDX-License-Identifier: Apache-2.0
#include "csv/row_reader.h"

#include <gmock/gmock.h>

#include "tests/unit/carry-csv/csv_folder.h"

namespace gpupool::carry::csv {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Fields = std::vector<std::string>;

struct SeenRow {
  std::int64_t line;
  Fields fields;
};

struct SeenFile {
  std::vector<SeenRow> rows;
  std::string failure;
  Fields row(std::size_t at) const { return rows.at(at).fields; }
};

SeenFile rows_of(std::string_view text, char delimiter = ',') {
  const CsvFolder folder;
  folder.write("a.csv", text);
  const auto source = folder.source("a.csv");
  RowReader reader(source, delimiter, 10, true, {});
  SeenFile seen;
  std::string scratch;
  for (;;) {
    const auto status = reader.next();
    if (status == RowStatus::kFailed) seen.failure = reader.failure().message;
    if (status != RowStatus::kRow) return seen;
    auto& row = seen.rows.emplace_back(SeenRow{reader.line(), {}});
    for (const auto& field : reader.fields()) row.fields.emplace_back(field.text(scratch));
    if (reader.malformed()) row.fields.emplace_back("MALFORMED");
  }
}

TEST(RowReader, SplitsRowsAndFields) {
  const auto seen = rows_of("a,b,\n,,\n1,22,333\n");
  ASSERT_EQ(seen.rows.size(), 3U);
  EXPECT_THAT(seen.row(0), ElementsAre("a", "b", ""));
  EXPECT_THAT(seen.row(1), ElementsAre("", "", ""));
  EXPECT_THAT(seen.row(2), ElementsAre("1", "22", "333"));
}

TEST(RowReader, TakesEveryEndOfALine) {
  const auto seen = rows_of("a\nb\r\nc\rd\r\r\ne");
  ASSERT_EQ(seen.rows.size(), 5U);
  EXPECT_EQ(seen.rows[0].line, 1);
  EXPECT_EQ(seen.rows[2].line, 3);
  EXPECT_EQ(seen.rows[3].line, 4);
  EXPECT_EQ(seen.rows[4].line, 6);
  EXPECT_THAT(seen.row(4), ElementsAre("e"));
}

TEST(RowReader, ReadsQuotedFields) {
  const auto seen = rows_of("\"a,b\",\"c\"\"d\",\"\"\"\"\r\n\"\",\"x\ny\r\nz\",e\nlast,\"q\"");
  ASSERT_EQ(seen.rows.size(), 3U);
  EXPECT_THAT(seen.row(0), ElementsAre("a,b", "c\"d", "\""));
  EXPECT_THAT(seen.row(1), ElementsAre("", "x\ny\r\nz", "e"));
  EXPECT_EQ(seen.rows[1].line, 2);
  EXPECT_EQ(seen.rows[2].line, 5);
  EXPECT_THAT(seen.row(2), ElementsAre("last", "q"));
}

TEST(RowReader, AQuoteWithinAFieldIsALetter) {
  EXPECT_THAT(rows_of("a\"b,c\"\n").row(0), ElementsAre("a\"b", "c\""));
}

TEST(RowReader, MarksTextAfterAClosingQuote) {
  EXPECT_THAT(rows_of("\"a\"b,c\nd,e\n").row(0), ElementsAre("a", "c", "MALFORMED"));
  EXPECT_THAT(rows_of("\"a\"b,c\nd,e\n").row(1), ElementsAre("d", "e"));
  EXPECT_THAT(rows_of("a,\"b\" \nd,e\n").row(0), ElementsAre("a", "b", "MALFORMED"));
}

TEST(RowReader, NamesTheLineOfAnOpenQuote) {
  EXPECT_THAT(rows_of("a\n\n\"b\nc\",\"d\n\n").failure,
              HasSubstr("the quote that line 4 opens is never closed"));
}

TEST(RowReader, SkipsBlankLinesAndTheOrderMark) {
  const auto seen = rows_of("\xef\xbb\xbf\n \t\na\n\n\"\"\n");
  ASSERT_EQ(seen.rows.size(), 2U);
  EXPECT_THAT(seen.row(0), ElementsAre("a"));
  EXPECT_EQ(seen.rows[0].line, 3);
  EXPECT_THAT(seen.row(1), ElementsAre(""));
  EXPECT_THAT(rows_of("\t\n", '\t').row(0), ElementsAre("", ""));
  EXPECT_TRUE(rows_of("").rows.empty());
  EXPECT_TRUE(rows_of("\xef\xbb\xbf").rows.empty());
}

TEST(RowReader, CountsFieldsThatItDoesNotKeep) {
  const CsvFolder folder;
  folder.write("a.csv", "1,2,3,4\n");
  const auto source = folder.source("a.csv");
  RowReader reader(source, ',', 2, true, {});
  ASSERT_EQ(reader.next(), RowStatus::kRow);
  EXPECT_EQ(reader.field_count(), 4U);
  EXPECT_EQ(reader.fields().size(), 2U);
}

TEST(RowReader, RefusesWhatIsNoText) {
  EXPECT_THAT(rows_of("a\nb\xc3\n").failure, HasSubstr("line 2, byte 3 of the file: not UTF-8"));
  EXPECT_THAT(rows_of("a\n\"b\n\xff\"\n").failure, HasSubstr("line 3, byte 5 of the file: not UTF-8"));
  EXPECT_THAT(rows_of("a\r\nb\xe2\x82").failure, HasSubstr("line 2, byte 4 of the file: not UTF-8"));
  EXPECT_THAT(rows_of("a\xed\xa0\x80").failure, HasSubstr("byte 1 of the file: not UTF-8"));
  EXPECT_THAT(rows_of(std::string_view("a\n\n,\0,", 6)).failure,
              HasSubstr("line 3, byte 4 of the file: a NUL byte"));
  EXPECT_EQ(rows_of("a\nä€𐍈\n").failure, "");
}

}  // namespace
}  // namespace gpupool::carry::csv
