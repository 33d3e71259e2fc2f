// SPDX-License-Identifier: Apache-2.0
#include "csv/short_report.h"

#include <gmock/gmock.h>

namespace gpupool::carry {
namespace {

CsvReport shown_report() {
  CsvReport report;
  report.rows_in = 1000;
  report.rows_out = 990;
  report.rows_dropped = 10;
  report.reasons = {{"label missing", 9, {3, 17, 20, 21, 22}}, {"too few fields", 1, {40}}};
  CsvColumnReport age;
  age.name = "age";
  age.missing = 14;
  age.imputed = 12;
  age.value = "31.5";
  age.clipped_low = 2;
  age.clipped_high = 3;
  report.columns = {age};
  return report;
}

TEST(ShortReport, SaysWhatWasDone) {
  EXPECT_EQ(short_report(shown_report()),
            "rows 1000 in, 990 out, 10 dropped (label missing: 9, lines 3, 17, 20, 21, 22, ...; too few "
            "fields: 1, line 40); "
            "age: 12 imputed with 31.5, 2 missing, 5 clipped");
}

TEST(ShortReport, LeavesOutWholeParts) {
  auto report = shown_report();
  auto wide = report.columns.front();
  wide.value = std::string(600, 'x');
  report.columns.insert(report.columns.begin(), wide);
  for (int i = 0; i < 40; ++i) report.columns.push_back(report.columns.back());
  const auto text = short_report(report);
  EXPECT_LE(text.size(), kShortReport);
  EXPECT_GT(text.size(), kShortReport - 100);
  EXPECT_THAT(text, testing::EndsWith("; age: 12 imputed with 31.5, 2 missing, 5 clipped; ..."));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("xxx")));
}

TEST(ShortReport, IsOneLine) {
  auto report = shown_report();
  report.columns.front().name = "a\nb";
  EXPECT_THAT(short_report(report), testing::HasSubstr("; a b: 12 imputed"));
}

}  // namespace
}  // namespace gpupool::carry
