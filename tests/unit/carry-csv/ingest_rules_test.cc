// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "csv/short_report.h"
#include "tests/unit/carry-csv/csv_folder.h"

namespace gpupool::carry {
namespace {

const CsvColumnReport& column(const CsvReport& report, const std::string& name) {
  for (const auto& one : report.columns)
    if (one.name == name) return one;
  ADD_FAILURE() << "no column " << name;
  return report.columns.front();
}

TEST(IngestRules, ChangesNothingThatNoRuleNames) {
  const CsvFolder folder;
  EXPECT_EQ(folder.cleaned(
                "\xef\xbb\xbf\"a\";b c;d\r\n007;\"x\";1.50\r\n\r\n+1e3;\"p;q\";NA\r\n \"z\";w\"w;\"1\n2\""),
            "a;b c;d\n007;x;1.50\n+1e3;\"p;q\";NA\n\" \"\"z\"\"\";\"w\"\"w\";\"1\n2\"\n");
}

TEST(IngestRules, OneColumnKeepsItsEmptyRows) {
  EXPECT_EQ(CsvFolder().cleaned("a\n\"\"\n1\n\n\" \"\n"), "a\n\"\"\n1\n\" \"\n");
  EXPECT_EQ(CsvFolder().cleaned("a\nNA\n1\nx\n", R"({"missing":{"constants":{"a":""}}})"), "a\n\"\"\n1\nx\n");
  EXPECT_EQ(CsvFolder().cleaned("\"\xef\xbb\xbf"
                                "a\",b\n1,2\n"),
            "\"\xef\xbb\xbf"
            "a\",b\n1,2\n");
}

TEST(IngestRules, FindsTheDelimiter) {
  for (const std::string delimiter : {",", ";", "\t", "|"}) {
    const auto text = "a" + delimiter + "b\n1" + delimiter + "x y\n2" + delimiter + "\"q,;\t|\"\n";
    const auto report = CsvFolder().ingest(text);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->delimiter, delimiter);
    EXPECT_EQ(report->columns.size(), 2U);
  }
  EXPECT_EQ(CsvFolder().ingest("a,x;b\n1,2;3\n4;5\n6;7\n")->delimiter, ";");  // fits more rows
  EXPECT_EQ(CsvFolder().ingest("a\n1;2\n")->delimiter, ",");                  // the header is one name
  EXPECT_EQ(CsvFolder().ingest("a,x;b\n1,2;3\n4,5\n", R"({"delimiter":";"})")->columns.size(), 2U);
}

TEST(IngestRules, FindsTypes) {
  const auto report = CsvFolder().ingest("i,n,t,e,inf\n1,1,1,,1\n007,2.5,x,NA,inf\nNA,nan,3,NULL,-3\n");
  ASSERT_TRUE(report);
  EXPECT_EQ(column(*report, "i").type, "Integer");
  EXPECT_EQ(column(*report, "n").type, "Number");
  EXPECT_EQ(column(*report, "t").type, "Text");
  EXPECT_EQ(column(*report, "e").type, "Number");
  EXPECT_EQ(column(*report, "inf").type, "Number");
}

TEST(IngestRules, DropsRowsAndSaysWhy) {
  const CsvFolder folder;
  const auto report =
      folder.ingest("id,label,x\n1,a,1\n2,,2\n3,c\n4,d,1,1\nx,e,1\n6,NA,1\n\"7\"7,f,1\n8,g,z\n",
                    R"({"types":{"id":"Integer"},"missing":{"columns":{"label":"Drop"}}})");
  ASSERT_TRUE(report);
  EXPECT_EQ(folder.read("clean.csv"), "id,label,x\n1,a,1\n8,g,z\n");
  EXPECT_EQ(report->rows_in, 8);
  EXPECT_EQ(report->rows_out, 2);
  EXPECT_EQ(report->rows_dropped, 6);
  ASSERT_EQ(report->first_dropped.size(), 6U);
  EXPECT_EQ(report->first_dropped[0].line, 3);
  EXPECT_EQ(report->first_dropped[0].reason, "label missing");
  EXPECT_EQ(report->first_dropped[1].reason, "too few fields");
  EXPECT_EQ(report->first_dropped[2].reason, "too many fields");
  EXPECT_EQ(report->first_dropped[3].reason, "id not of type Integer");
  EXPECT_EQ(report->first_dropped[5].reason, "text after a closing quote");
  EXPECT_EQ(report->reasons[0].text, "label missing");
  EXPECT_EQ(report->reasons[0].rows, 2);
  EXPECT_THAT(report->reasons[0].lines, testing::ElementsAre(3, 7));
  EXPECT_THAT(short_report(*report),
              testing::StartsWith("rows 8 in, 2 out, 6 dropped (label missing: 2, lines 3, 7; "));
}

TEST(IngestRules, ImputesFromTheRowsThatAreKept) {
  const std::string rows = "k,v\n1,1\n1,NA\nNA,100\n1,2\n1,6\n1,1\n";
  const auto with = [&](const std::string& rule) {
    return CsvFolder().cleaned(rows, R"({"missing":{"columns":{"k":"Drop","v":")" + rule + "\"}}}");
  };
  EXPECT_EQ(with("Mean"), "k,v\n1,1\n1,2.5\n1,2\n1,6\n1,1\n");
  EXPECT_EQ(with("Median"), "k,v\n1,1\n1,1.5\n1,2\n1,6\n1,1\n");
  EXPECT_EQ(with("Mode"), "k,v\n1,1\n1,1\n1,2\n1,6\n1,1\n");
  EXPECT_EQ(with("Keep"), "k,v\n1,1\n1,NA\n1,2\n1,6\n1,1\n");
  EXPECT_EQ(with("Drop"), "k,v\n1,1\n1,2\n1,6\n1,1\n");
}

TEST(IngestRules, AMeanKeepsWhatRoundingLoses) {
  EXPECT_EQ(CsvFolder().cleaned("a\n1e16\n0.75\n-1e16\nNA\n", R"({"missing":{"default":"Mean"}})"),
            "a\n1e16\n0.75\n-1e16\n0.25\n");
}

TEST(IngestRules, TypeFollowsWhatIsImputed) {
  const auto type_with = [](const std::string& rules) {
    return column(*CsvFolder().ingest("v,w\n1,1\nNA,1\n3,1\n4,1\n", rules), "v").type;
  };
  EXPECT_EQ(type_with(R"({"missing":{"default":"Median"}})"), "Integer");
  EXPECT_EQ(type_with(R"({"missing":{"default":"Mean"}})"), "Number");
  EXPECT_EQ(type_with(R"({"missing":{"constants":{"v":"7"}}})"), "Integer");
  EXPECT_EQ(type_with(R"({"missing":{"constants":{"v":"7.0"}}})"), "Number");
  EXPECT_EQ(type_with(R"({"clip":{"columns":{"v":{"max":"3.5"}}}})"), "Number");
  EXPECT_EQ(type_with(R"({"clip":{"columns":{"v":{"max":"4.5"}}}})"), "Integer");
}

TEST(IngestRules, ConstantsAreWrittenAsTheyAre) {
  EXPECT_EQ(
      CsvFolder().cleaned("a,b\n1,\n,x\n", R"({"missing":{"constants":{"a":"2.50","b":"say \"no\", or"}}})"),
      "a,b\n1,\"say \"\"no\"\", or\"\n2.50,x\n");
}

TEST(IngestRules, RulesForNumbersLeaveTextsAlone) {
  const CsvFolder folder;
  const auto report = folder.ingest("t,e,n\nx,,1\n,,\ny,,5\n",
                                    R"({"missing":{"default":"Mean"},"clip":{"default":{"max":"4"}}})");
  ASSERT_TRUE(report);
  EXPECT_EQ(folder.read("clean.csv"), "t,e,n\nx,,1\n,,3\ny,,4\n");
  EXPECT_EQ(column(*report, "t").note, "Mean is of numbers: missing values are kept");
  EXPECT_EQ(column(*report, "e").note, "no row has a value: missing values are kept");
  EXPECT_EQ(column(*report, "n").note, "");
}

TEST(IngestRules, AMeanThatIsNoNumberIsNotWritten) {
  const CsvFolder folder;
  const auto report =
      folder.ingest("a,b\ninf,1\n-inf,2\nNA,3\n",
                    R"({"missing":{"default":"Mean"},"clip":{"default":{"upperQuantile":"0.6"}}})");
  ASSERT_TRUE(report);
  EXPECT_EQ(folder.read("clean.csv"), "a,b\ninf,1\n-inf,2\nNA,2.2\n");
  EXPECT_EQ(column(*report, "a").note, "Mean of both infinities is no number: missing values are kept");
}

TEST(IngestRules, ClipsAfterImputing) {
  const CsvFolder folder;
  const auto report = folder.ingest("a,b\n-5,1\n1,2\n2.0,3\n30,NA\nNA,5\n",
                                    R"({"missing":{"constants":{"a":"99","b":"4"}},
                                        "clip":{"columns":{"a":{"min":"0","max":"10"},"b":{"lowerQuantile":"0.25","upperQuantile":"0.75"}}}})");
  ASSERT_TRUE(report);
  EXPECT_EQ(folder.read("clean.csv"), "a,b\n0,2\n1,2\n2.0,3\n10,4\n10,4\n");
  const auto& a = column(*report, "a");
  EXPECT_EQ(a.imputed, 1);
  EXPECT_EQ(a.value, "99");
  EXPECT_EQ(a.clipped_low, 1);
  EXPECT_EQ(a.clipped_high, 2);
  EXPECT_EQ(a.before.count, 4);
  EXPECT_EQ(a.before.min, -5);
  EXPECT_EQ(a.before.max, 30);
  EXPECT_EQ(a.before.mean, 7);
  EXPECT_EQ(a.after.count, 5);
  EXPECT_EQ(a.after.min, 0);
  EXPECT_EQ(a.after.max, 10);
  EXPECT_DOUBLE_EQ(a.after.mean, 23.0 / 5);
  EXPECT_EQ(column(*report, "b").lower, "2");
  EXPECT_EQ(column(*report, "b").upper, "4");
}

TEST(IngestRules, ColumnsBoundsReplaceTheDefault) {
  EXPECT_EQ(CsvFolder().cleaned(
                "a,b,c\n-9,-9,-9\n9,9,9\n",
                R"({"clip":{"default":{"min":"-1","max":"1"},"columns":{"b":{"max":"5"},"c":{}}}})"),
            "a,b,c\n-1,-9,-9\n1,5,9\n");
}

TEST(IngestRules, LargeIntegersAreNotRounded) {
  EXPECT_EQ(CsvFolder().cleaned(
                "a,b\n9007199254740993,9223372036854775807\nNA,NA\n9007199254740993,1\n",
                R"({"missing":{"default":"Mode"},"clip":{"columns":{"b":{"max":"9007199254740993"}}}})"),
            "a,b\n9007199254740993,9007199254740993\n9007199254740993,1\n9007199254740993,1\n");
}

TEST(IngestRules, WritesFilesThatNobodyChanges) {
  const CsvFolder folder;
  const auto report = folder.ingest("a,\"b\n\"\n1,x\n,y\n", R"({"missing":{"default":"Mean"}})");
  ASSERT_TRUE(report);
  struct stat info{};
  for (const auto* name : {"clean.csv", "clean.csv.report.json"}) {
    ASSERT_EQ(::stat(folder.path(name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0444U);
  }
  EXPECT_EQ(folder.read("data.csv"), "a,\"b\n\"\n1,x\n,y\n");
  EXPECT_EQ(report->data.bytes, static_cast<std::int64_t>(folder.read("clean.csv").size()));
  EXPECT_EQ(report->data.sha256, digest::sha256_hex(folder.read("clean.csv")));
  const auto json = nlohmann::json::parse(folder.read("clean.csv.report.json"));
  EXPECT_EQ(json["rowsOut"], 2);
  EXPECT_EQ(json["passes"], 2);
  EXPECT_EQ(json["columns"][0]["value"], "1");
  EXPECT_EQ(json["columns"][0]["after"]["count"], 2);
  EXPECT_EQ(json["columns"][1]["name"], "b\n");
  EXPECT_EQ(short_report(*report), "rows 2 in, 2 out; a: 1 imputed with 1");
}

}  // namespace
}  // namespace gpupool::carry
