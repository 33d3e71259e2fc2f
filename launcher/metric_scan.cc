// SPDX-License-Identifier: Apache-2.0
#include "launcher/metric_scan.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/terminal_text.h"
#include "launcher/metric_json.h"
#include "launcher/metric_number.h"

namespace gpupool::launcher {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_in_name(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '/' || c == '-'; }
bool is_quote(char c) { return c == '"' || c == '\''; }
bool is_space(char c) { return c == ' ' || c == '\t'; }

// The name that ends before `end`; empty if there is none.
std::string_view name_before(std::string_view line, std::size_t end, const Metrics& metrics) {
  while (end > 0 && is_space(line[end - 1])) --end;
  const bool quoted = end > 0 && is_quote(line[end - 1]);
  if (quoted) --end;
  if (end == 0 || !metrics.may_end_name(line[end - 1])) return {};
  std::size_t begin = end;
  while (begin > 0 && is_in_name(line[begin - 1])) --begin;
  if (begin == end || !is_letter(line[begin])) return {};
  if (quoted && (begin == 0 || line[begin - 1] != line[end])) return {};
  return line.substr(begin, end - begin);
}

std::string without_sequences(std::string_view line) {
  std::string text;
  while (!line.empty()) {
    const std::size_t plain = std::min(line.find(base::kEscape), line.size());
    text += line.substr(0, plain);
    line.remove_prefix(plain);
    if (!line.empty()) line.remove_prefix(base::escape_length(line));
  }
  return text;
}

void scan_text(std::string_view line, Metrics& metrics) {
  std::size_t equals = line.find('=');
  std::size_t colon = line.find(':');
  for (std::size_t at = std::min(equals, colon); at != std::string_view::npos; at = std::min(equals, colon)) {
    (at == equals ? equals : colon) = line.find(line[at], at + 1);
    const std::string_view name = name_before(line, at, metrics);
    if (name.empty()) continue;
    if (const std::optional<NumberInText> number = read_number(line.substr(at + 1)))
      metrics.add(name, number->value);
  }
}

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  return line;
}

bool add_json(std::string_view line, Metrics& metrics) {
  const std::string_view object = trimmed(line);
  if (object.size() < 2 || object.front() != '{' || object.back() != '}') return false;
  if (read_json_numbers(object, metrics)) return true;
  metrics.drop_line();
  return false;
}

}  // namespace

void scan_line(std::string_view line, Metrics& metrics) {
  if (line.find(base::kEscape) != std::string_view::npos) return scan_line(without_sequences(line), metrics);
  if (!add_json(line, metrics)) scan_text(line, metrics);
  metrics.end_line();
}

void scan_json_line(std::string_view line, Metrics& metrics) {
  if (add_json(line, metrics)) metrics.end_line();
}

}  // namespace gpupool::launcher
