// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/unit/carry-csv/csv_folder.h"

namespace gpupool::carry {
namespace {

using testing::HasSubstr;

FailureKind kind_from(const CsvFolder& folder, const std::string& from, const std::string& to = "clean.csv") {
  api::CsvIngestion spec;
  spec.from = from;
  SizeBudget budget(1'000'000);
  const auto report = ingest_csv(folder.open().get(), from, to, spec, budget, {});
  EXPECT_FALSE(report);
  return report ? FailureKind::kStopped : report.error().kind;
}

TEST(IngestErrors, NameFileLineAndColumn) {
  const auto message = [](std::string_view text, const std::string& rules = "{}") {
    return CsvFolder().cleaned(text, rules);
  };
  EXPECT_EQ(message(""), "data.csv: is empty, and a header is wanted");
  EXPECT_EQ(message("a,b\n"), "data.csv: has a header and no rows");
  EXPECT_EQ(message("\na,b,a\n1,2,3\n"), "data.csv: line 2: columns 1 and 3 are both called a");
  EXPECT_EQ(message("a,,c\n1,2,3\n"), "data.csv: line 1: column 2 has no name in the header");
  EXPECT_EQ(message("\"a\"b,c\n1,2\n"), "data.csv: line 1: the header has text after a closing quote");
  EXPECT_EQ(message("a,b\n1,\"x\n"), "data.csv: the quote that line 2 opens is never closed");
  EXPECT_EQ(message("a,b\n1,\xff\n"), "data.csv: line 2, byte 6 of the file: not UTF-8");
  EXPECT_EQ(message("a,b\n1\n1,2,3\n4\n"),
            "data.csv: all 3 rows would be dropped; too few fields: 2, the first in line 2");
  EXPECT_EQ(message("age,b\nx,2\n", R"({"types":{"c":"Text"}})"),
            "data.csv: csv.types names the column c, and the file has age, b");
  for (const auto* rules :
       {R"({"missing":{"columns":{"c":"Drop"}}})", R"({"missing":{"constants":{"c":"0"}}})",
        R"({"clip":{"columns":{"c":{"min":"0"}}}})"})
    EXPECT_THAT(message("age,b\nx,2\n", rules), HasSubstr("names the column c, and the file has age, b"));
}

TEST(IngestErrors, RulesThatDoNotFitTheColumn) {
  const auto message = [](const std::string& rules) {
    return CsvFolder().cleaned("t,n\nx,1\n,5\nz,\n", rules);
  };
  EXPECT_EQ(message(R"({"missing":{"columns":{"t":"Mean"}}})"),
            "data.csv: column t: Mean is of numbers, and the column has texts");
  EXPECT_EQ(message(R"({"missing":{"columns":{"t":"Median"}}})"),
            "data.csv: column t: Median is of numbers, and the column has texts");
  EXPECT_EQ(message(R"({"clip":{"columns":{"t":{"min":"0"}}}})"),
            "data.csv: column t: has texts, and only numbers are clipped");
  EXPECT_EQ(message(R"({"missing":{"constants":{"n":"none"}}})"),
            "data.csv: column n: has numbers, and the constant \"none\" is none");
  EXPECT_EQ(message(R"({"clip":{"columns":{"n":{"min":"9","upperQuantile":"0.5"}}}})"),
            "data.csv: column n: its lower bound 9 is larger than its upper bound 3");
}

TEST(IngestErrors, TooManyColumns) {
  std::string header = "c0";
  for (int i = 1; i < 16385; ++i) header += ",c" + std::to_string(i);
  EXPECT_EQ(CsvFolder().cleaned(header + "\n1\n"),
            "data.csv: line 1: the header has 16385 columns, more than 16384");
}

TEST(IngestErrors, LinksAndOtherFilesAreRefused) {
  const CsvFolder folder;
  folder.write("real.csv", "a\n1\n");
  ASSERT_EQ(::mkdir(folder.path("directory").c_str(), 0777), 0);
  ASSERT_EQ(::symlink("real.csv", folder.path("link.csv").c_str()), 0);
  ASSERT_EQ(::symlink(".", folder.path("here").c_str()), 0);
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0666), 0);
  for (const auto* from : {"link.csv", "here/real.csv", "directory", "pipe", "none.csv", "real.csv/a",
                           "../real.csv", "/etc/passwd"})
    EXPECT_EQ(kind_from(folder, from), FailureKind::kInvalid) << from;
  EXPECT_EQ(kind_from(folder, "real.csv", "real.csv"), FailureKind::kInvalid);
  folder.write("x.report.json", "a\n1\n");
  EXPECT_EQ(kind_from(folder, "x.report.json", "x"), FailureKind::kInvalid);
  EXPECT_EQ(folder.read("real.csv"), "a\n1\n");
}

TEST(IngestErrors, AFailureLeavesNoFile) {
  const CsvFolder folder;
  const std::string many(100'000, '1');
  folder.write("data.csv", "a,b\n" + many + ",2\n");
  api::CsvIngestion spec;
  spec.from = "data.csv";
  SizeBudget budget(1000);
  const auto report = ingest_csv(folder.open().get(), "data.csv", "clean.csv", spec, budget, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, FailureKind::kTooLarge);
  EXPECT_EQ(budget.left(), 1000);
  const auto left = std::filesystem::directory_iterator(folder.path(""));
  EXPECT_EQ(std::distance(left, std::filesystem::directory_iterator()), 1);
}

TEST(IngestErrors, StopsWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  const auto report = CsvFolder().ingest("a,b\n1,2\n", "{}", stop.get_token());
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, FailureKind::kStopped);
}

TEST(IngestErrors, AChangedFileIsNoticed) {
  const CsvFolder folder;
  folder.write("a.csv", "a\n1\n");
  const auto source = folder.source("a.csv");
  EXPECT_TRUE(source.check_unchanged());
  folder.write("a.csv", "a\n1\n2\n");
  const auto unchanged = source.check_unchanged();
  ASSERT_FALSE(unchanged);
  EXPECT_EQ(unchanged.error().kind, FailureKind::kMismatch);
}

}  // namespace
}  // namespace gpupool::carry
