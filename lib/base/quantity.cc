// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace gpupool::base {

namespace {

// More digits than any 64-bit number in units of 10^-9 needs. Bounds the work on hostile input.
constexpr std::size_t kMaxDigits = 100;
constexpr int kMaxExponent = 1000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A decimal number: its digits, most significant first; the first `whole` of them are before the point.
struct Decimal {
  std::string digits;
  int whole = 0;
};

// The factor of a suffix: 1024^binary * 10^decimal.
struct Scale {
  int binary = 0;
  int decimal = 0;
};

// The suffixes of apimachinery's pkg/api/resource: binary SI, decimal SI, decimal exponent.
std::optional<Scale> parse_suffix(std::string_view suffix) {
  constexpr std::array<std::pair<std::string_view, Scale>, 16> kSuffixes{{
      {"", {}},
      {"n", {0, -9}},
      {"u", {0, -6}},
      {"m", {0, -3}},
      {"k", {0, 3}},
      {"M", {0, 6}},
      {"G", {0, 9}},
      {"T", {0, 12}},
      {"P", {0, 15}},
      {"E", {0, 18}},
      {"Ki", {1, 0}},
      {"Mi", {2, 0}},
      {"Gi", {3, 0}},
      {"Ti", {4, 0}},
      {"Pi", {5, 0}},
      {"Ei", {6, 0}},
  }};
  for (const auto& [name, scale] : kSuffixes) {
    if (suffix == name) return scale;
  }
  if (suffix.size() < 2 || (suffix.front() != 'e' && suffix.front() != 'E')) return std::nullopt;
  suffix.remove_prefix(1);
  const bool negative = suffix.front() == '-';
  if (negative || suffix.front() == '+') suffix.remove_prefix(1);
  if (suffix.empty() || !std::all_of(suffix.begin(), suffix.end(), is_digit)) return std::nullopt;
  int exponent = 0;
  for (const char c : suffix) exponent = std::min(kMaxExponent, exponent * 10 + (c - '0'));
  return Scale{0, negative ? -exponent : exponent};
}

// Removes the digits and the point from the front of `text`.
std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal number;
  bool point = false;
  std::size_t used = 0;
  for (; used < text.size(); ++used) {
    const char c = text[used];
    if (c == '.' && !point) {
      point = true;
    } else if (is_digit(c)) {
      number.digits += c;
      if (!point) ++number.whole;
    } else {
      break;
    }
  }
  text.remove_prefix(used);
  if (number.digits.empty() || number.digits.size() > kMaxDigits) return std::nullopt;
  return number;
}

void multiply_by_1024(Decimal& number) {
  int carry = 0;
  for (std::size_t i = number.digits.size(); i-- > 0;) {
    const int value = (number.digits[i] - '0') * 1024 + carry;
    number.digits[i] = static_cast<char>('0' + value % 10);
    carry = value / 10;
  }
  const std::string front = carry == 0 ? "" : std::to_string(carry);
  number.digits.insert(0, front);
  number.whole += static_cast<int>(front.size());
}

// Rounds away from zero. Returns nothing if the result is over 2^63 - 1.
std::optional<std::int64_t> round_up(const Decimal& number) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::int64_t value = 0;
  const int size = static_cast<int>(number.digits.size());
  for (int i = 0; i < std::max(number.whole, size); ++i) {
    const int digit = i < size ? number.digits[static_cast<std::size_t>(i)] - '0' : 0;
    if (i >= number.whole) {
      if (digit == 0) continue;
      if (value == kMax) return std::nullopt;
      return value + 1;
    }
    if (value > (kMax - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

// Parses a quantity in units of 10^-digits.
std::optional<std::int64_t> parse_scaled(std::string_view text, int digits) {
  if (text.empty()) return std::nullopt;
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);

  auto number = take_decimal(text);
  const auto scale = parse_suffix(text);
  if (!number || !scale) return std::nullopt;
  for (int i = 0; i < scale->binary; ++i) multiply_by_1024(*number);
  number->whole += scale->decimal + digits;

  const auto value = round_up(*number);
  if (!value) return std::nullopt;
  return negative ? -*value : *value;
}

}  // namespace

std::optional<std::int64_t> parse_quantity(std::string_view text) { return parse_scaled(text, 0); }

std::optional<std::int64_t> parse_milli_quantity(std::string_view text) { return parse_scaled(text, 3); }

std::string format_binary(std::int64_t bytes) {
  constexpr std::array<const char*, 7> kUnits{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  std::size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + kUnits[unit];
}

}  // namespace gpupool::base
