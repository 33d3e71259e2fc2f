// SPDX-License-Identifier: Apache-2.0
#include "reports/fields.h"

#include <chrono>

#include "base/money.h"
#include "base/rfc3339.h"

namespace gpupool::ledger {
namespace {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string time_text(std::int64_t moment) {
  return base::to_rfc3339(base::WallTime(std::chrono::seconds(moment)));
}

std::int64_t milli_gpu_seconds(const StatementLine& line) {
  return line.fact.units() * (line.to - line.from) * 1000 / line.fact.units_of_gpu();
}

std::string hours_text(std::int64_t milli_gpu_seconds) {
  return base::micros_text(milli_gpu_seconds * 10 / 36);
}

std::string short_hours(std::int64_t milli_gpu_seconds) {
  const auto text = hours_text(milli_gpu_seconds);
  return text.substr(0, text.size() - 3);
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string right(const std::string& text, std::size_t width) {
  return (text.size() < width ? std::string(width - text.size(), ' ') : "") + text;
}

std::string csv_row(std::initializer_list<std::string> fields) {
  std::string row;
  for (const auto& field : fields) row += csv_field(field) + ",";
  if (!row.empty()) row.pop_back();
  return row + "\r\n";
}

}  // namespace gpupool::ledger
