// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/carry-csv/csv_folder.h"

namespace gpupool::carry {
namespace {

using Row = std::vector<std::string>;
using Table = std::vector<Row>;

rc::Gen<std::string> some_text(std::initializer_list<const char*> pieces) {
  const auto piece = rc::gen::elementOf(std::vector<std::string>(pieces.begin(), pieces.end()));
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& parts) {
                        std::string text;
                        for (const auto& part : parts) text += part;
                        return text;
                      });
}

std::string quoted_text(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

Table parsed_table(const std::string& text, char delimiter, std::size_t columns) {
  const CsvFolder folder;
  folder.write("a.csv", text);
  const auto source = folder.source("a.csv");
  csv::RowReader reader(source, delimiter, columns, true, {});
  Table table;
  std::string scratch;
  while (reader.next() == csv::RowStatus::kRow) {
    auto& row = table.emplace_back();
    for (const auto& field : reader.fields()) row.emplace_back(field.text(scratch));
  }
  return table;
}

RC_GTEST_PROP(IngestProperty, EveryTableComesBackAsItWas, ()) {
  const auto delimiter = *rc::gen::element(',', ';', '\t', '|');
  const auto columns = *rc::gen::inRange<std::size_t>(1, 5);
  const auto cell = some_text({"a", ",", ";", "|", "\t", "\"", "\n", "\r", " ", "7", ".", "NA", "é", "€"});
  Table table = {{}};
  for (std::size_t i = 0; i < columns; ++i) table.front().push_back("c" + std::to_string(i) + *cell);
  const auto rows = *rc::gen::nonEmpty(rc::gen::container<Table>(rc::gen::container<Row>(columns, cell)));
  table.insert(table.end(), rows.begin(), rows.end());
  const auto line_end = *rc::gen::element<std::string>("\n", "\r\n", "\r");
  std::string text = *rc::gen::element<std::string>("", "\xef\xbb\xbf");
  for (const auto& row : table) {
    for (std::size_t i = 0; i < columns; ++i) {
      if (i > 0) text += delimiter;
      text += quoted_text(row[i]);
    }
    text += line_end;
  }
  const CsvFolder folder;
  const auto report =
      folder.ingest(text, std::string(R"({"delimiter":")") +
                              (delimiter == '\t' ? "tab" : std::string(1, delimiter)) + "\"}");
  RC_ASSERT(report.has_value());
  RC_ASSERT(parsed_table(folder.read("clean.csv"), delimiter, columns) == table);
}

std::string some_rules() {
  const std::string rule = *rc::gen::element<std::string>("Keep", "Drop", "Mean", "Median", "Mode");
  const std::string clip = *rc::gen::element<std::string>(
      R"("min":"0")", R"("max":"5","lowerQuantile":"0.3")", R"("lowerQuantile":"0.1","upperQuantile":"0.9")");
  const std::string types =
      *rc::gen::element<std::string>("", R"("a":"Integer")", R"("a":"Number")", R"("a":"Text")");
  return R"({"types":{)" + types + R"(},"missing":{"default":")" + rule + R"("},"clip":{"default":{)" + clip +
         "}}}";
}

// Whatever the bytes are: an error, or rows that add up and a result that is a clean file itself.
void check_sums(const std::string& text, const std::string& rules) {
  const CsvFolder folder;
  const auto report = folder.ingest(text, rules);
  if (!report) {
    RC_ASSERT(!report.error().message.empty());
    RC_ASSERT(report.error().kind == FailureKind::kInvalid);
    RC_ASSERT(folder.read("clean.csv").empty());
    return;
  }
  RC_ASSERT(report->rows_in == report->rows_out + report->rows_dropped);
  std::int64_t reasons = 0;
  for (const auto& reason : report->reasons) reasons += reason.rows;
  RC_ASSERT(reasons == report->rows_dropped);
  const auto first = folder.read("clean.csv");
  const auto again = folder.ingest(
      first, R"({"delimiter":")" + (report->delimiter == "\t" ? "tab" : report->delimiter) + "\"}");
  RC_ASSERT(again.has_value());
  RC_ASSERT(again->rows_in == report->rows_out);
  RC_ASSERT(again->rows_dropped == 0);
  RC_ASSERT(folder.read("clean.csv") == first);
}

RC_GTEST_PROP(IngestProperty, RowsAddUpWhateverTheFileHolds, ()) {
  const auto text = *some_text(
      {"1", "2", ",", ",", "\n", "\n", "\"", "\r", "a", ";", " ", "-", ".5", "NA", "é", "inf", "e9"});
  check_sums("a,b\n" + text, some_rules());
}

RC_GTEST_PROP(IngestProperty, AnyBytesEndInAnErrorOrAFile, (const std::string& text)) {
  check_sums(text, "{}");
}

}  // namespace
}  // namespace gpupool::carry
