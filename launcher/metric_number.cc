// SPDX-License-Identifier: Apache-2.0
#include "launcher/metric_number.h"

#include <charconv>
#include <limits>

namespace gpupool::launcher {
namespace {

bool continues_word(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty()) return false;
  const char c = text.front();
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c)) return true;
  return c == '.' && text.size() > 1 && is_digit(text[1]);
}

}  // namespace

std::optional<NumberInText> read_number(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  NumberInText found;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found.value);
  if (error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    const bool negative = text.front() == '-';
    found.value = std::numeric_limits<double>::infinity() * (negative ? -1 : 1);
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with('%')) {
    found.value /= 100;
    text.remove_prefix(1);
  }
  if (continues_word(text)) return std::nullopt;
  found.rest = text;
  return found;
}

}  // namespace gpupool::launcher
