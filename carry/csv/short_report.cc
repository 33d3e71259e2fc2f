// SPDX-License-Identifier: Apache-2.0
#include "csv/short_report.h"

#include <string_view>
#include <vector>

namespace gpupool::carry {
namespace {

constexpr std::string_view kMore = "; ...";
constexpr std::size_t kMaxReasons = 3;

std::string lines_of(const CsvDropReason& reason) {
  std::string text = reason.rows == 1 ? ", line " : ", lines ";
  for (std::size_t i = 0; i < reason.lines.size(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(reason.lines[i]);
  if (static_cast<std::size_t>(reason.rows) > reason.lines.size()) text += ", ...";
  return text;
}

std::string rows_part(const CsvReport& report) {
  return "rows " + std::to_string(report.rows_in) + " in, " + std::to_string(report.rows_out) + " out" +
         (report.rows_dropped > 0 ? ", " + std::to_string(report.rows_dropped) + " dropped" : "");
}

std::string reasons_part(const CsvReport& report) {
  std::string text;
  for (std::size_t i = 0; i < report.reasons.size(); ++i) {
    const auto& reason = report.reasons[i];
    text += i > 0 ? "; " : " (";
    if (i == kMaxReasons) {
      text += "...";
      break;
    }
    text += reason.text + ": " + std::to_string(reason.rows) + lines_of(reason);
  }
  return text.empty() ? text : text + ")";
}

std::string column_part(const CsvColumnReport& column) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (column.imputed > 0) add(std::to_string(column.imputed) + " imputed with " + column.value);
  if (column.missing > column.imputed) add(std::to_string(column.missing - column.imputed) + " missing");
  const auto clipped = column.clipped_low + column.clipped_high;
  if (clipped > 0) add(std::to_string(clipped) + " clipped");
  return text.empty() ? text : "; " + column.name + ": " + text;
}

// A column's name or value may have a line break in it.
std::string on_one_line(std::string text) {
  for (auto& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

}  // namespace

std::string short_report(const CsvReport& report) {
  std::string text = rows_part(report);
  std::vector<std::string> parts = {reasons_part(report)};
  parts.reserve(report.columns.size() + 1);
  for (const auto& column : report.columns) parts.push_back(column_part(column));
  bool left_out = false;
  for (const auto& part : parts) {
    if (part.empty()) continue;
    if (text.size() + part.size() + kMore.size() <= kShortReport) {
      text += part;
    } else {
      left_out = true;
    }
  }
  if (left_out) text += kMore;
  return on_one_line(std::move(text));
}

}  // namespace gpupool::carry
