// SPDX-License-Identifier: Apache-2.0
#include "csv/report_json.h"

#include <nlohmann/json.hpp>
#include <string>

namespace gpupool::carry::csv {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kPiece = 64UL * 1024;

Json numbers_json(const CsvNumbers& numbers) {
  if (numbers.count == 0) return {{"count", 0}};
  return {{"count", numbers.count}, {"min", numbers.min}, {"max", numbers.max}, {"mean", numbers.mean}};
}

Json column_json(const CsvColumnReport& column) {
  Json json = {{"name", column.name},
               {"type", column.type},
               {"rule", column.rule},
               {"missing", column.missing},
               {"imputed", column.imputed}};
  if (column.imputed > 0) json["value"] = column.value;
  if (!column.lower.empty()) json["lower"] = column.lower;
  if (!column.upper.empty()) json["upper"] = column.upper;
  json["clippedLow"] = column.clipped_low;
  json["clippedHigh"] = column.clipped_high;
  if (column.type != "Text") {
    json["before"] = numbers_json(column.before);
    json["after"] = numbers_json(column.after);
  }
  if (!column.note.empty()) json["note"] = column.note;
  return json;
}

Json dropped_json(const CsvReport& report) {
  auto first = Json::array();
  for (const auto& row : report.first_dropped) first.push_back({{"line", row.line}, {"reason", row.reason}});
  auto reasons = Json::array();
  for (const auto& reason : report.reasons)
    reasons.push_back({{"reason", reason.text}, {"rows", reason.rows}, {"lines", reason.lines}});
  return {{"first", first}, {"reasons", reasons}};
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

Outcome<void> write_report_json(const CsvReport& report,
                                const std::function<Outcome<void>(std::string_view)>& write) {
  Json head = {{"rowsIn", report.rows_in},
               {"rowsOut", report.rows_out},
               {"rowsDropped", report.rows_dropped},
               {"delimiter", report.delimiter},
               {"order", {"shape", "types", "drop", "impute", "clip"}},
               {"exact", true},
               {"passes", report.passes},
               {"dropped", dropped_json(report)}};
  std::string text = text_of(head);
  text.back() = ',';  // instead of the closing bracket
  text += "\n\"columns\":[";
  const char* between = "\n";
  for (const auto& column : report.columns) {
    text += between + text_of(column_json(column));
    between = ",\n";
    if (text.size() < kPiece) continue;
    if (auto written = write(text); !written) return written;
    text.clear();
  }
  return write(text + "\n]}\n");
}

}  // namespace gpupool::carry::csv
