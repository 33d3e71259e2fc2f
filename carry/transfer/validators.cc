// SPDX-License-Identifier: Apache-2.0
#include "transfer/validators.h"

#include <charconv>

namespace gpupool::carry {
namespace {

std::string_view opaque(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.size() >= 2 && etag.front() == '"' && etag.back() == '"') etag = etag.substr(1, etag.size() - 2);
  return etag;
}

bool take_number(std::string_view& text, std::int64_t& number) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return true;
}

bool take_text(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

}  // namespace

std::string strong_validator(const HttpAnswer& answer) {
  const std::string& etag = answer.header("etag");
  if (etag.empty()) return answer.header("last-modified");
  return is_etag(etag) ? etag : std::string();
}

bool is_etag(std::string_view validator) {
  return validator.size() >= 2 && validator.front() == '"' && validator.back() == '"';
}

bool same_etag(std::string_view one, std::string_view other) { return opaque(one) == opaque(other); }

std::string quoted_etag(std::string_view etag) { return '"' + std::string(opaque(etag)) + '"'; }

std::optional<ContentRange> parse_content_range(std::string_view text) {
  ContentRange range;
  if (!take_text(text, "bytes ")) return std::nullopt;
  if (!take_text(text, "*/")) {
    if (!take_number(text, range.first) || !take_text(text, "-") || !take_number(text, range.last) ||
        !take_text(text, "/") || range.last < range.first)
      return std::nullopt;
  }
  if (text != "*" && (!take_number(text, range.total) || !text.empty() || range.last >= range.total))
    return std::nullopt;
  return range;
}

}  // namespace gpupool::carry
