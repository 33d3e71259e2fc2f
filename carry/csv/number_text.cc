// SPDX-License-Identifier: Apache-2.0
#include "csv/number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace gpupool::carry::csv {
namespace {

constexpr std::array<double, 23> kPowersOfTen = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr std::uint64_t kExactInteger = 1ULL << 53U;   // a double holds all integers up to here
constexpr std::int64_t kSafeDigits = 18;               // always fit 63 bits
constexpr std::int64_t kMaxExponent = 1'000'000'000;   // more is as much
constexpr double kIntegerEnd = 9223372036854775808.0;  // 2^63

inline bool is_number_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline unsigned digit_of(char c) { return static_cast<unsigned char>(c - '0'); }

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_number_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_number_space(text.back())) text.remove_suffix(1);
  return text;
}

// The digits, point and exponent of a number without its sign.
struct Decimal {
  const char* begin;
  const char* end;
  bool negative;
  std::uint64_t mantissa = 0;  // modulo 2^64
  std::int64_t whole = 0;      // digits before the point
  std::int64_t fraction = 0;   // digits after it
  std::int64_t exponent = 0;

  std::int64_t digits() const { return whole + fraction; }
  double with_sign(double value) const { return negative ? -value : value; }
};

inline const char* read_digits(const char* at, const char* end, std::uint64_t& mantissa) {
  for (unsigned digit = 0; at != end && (digit = digit_of(*at)) < 10; ++at) mantissa = mantissa * 10 + digit;
  return at;
}

// Returns the end of the exponent, or null.
const char* read_exponent(const char* at, const char* end, std::int64_t& exponent) {
  ++at;
  const bool negative = at != end && *at == '-';
  if (at != end && (*at == '-' || *at == '+')) ++at;
  if (at == end) return nullptr;
  for (; at != end; ++at) {
    if (digit_of(*at) >= 10) return nullptr;
    if (exponent < kMaxExponent) exponent = exponent * 10 + digit_of(*at);
  }
  if (negative) exponent = -exponent;
  return at;
}

// from_chars() does not say whether a number is too large or too small.
bool is_too_large(const Decimal& decimal) {
  std::int64_t zeros = 0;
  for (const char* at = decimal.begin; at != decimal.end && (*at == '0' || *at == '.'); ++at)
    zeros += *at == '0';
  return decimal.whole - zeros + decimal.exponent > 0;
}

NumberKind read_slowly(const Decimal& decimal, double& value) {
  double read = 0;
  const auto [end, code] = std::from_chars(decimal.begin, decimal.end, read);
  if (code == std::errc::result_out_of_range) {
    if (is_too_large(decimal)) return NumberKind::kNone;
    read = 0;
  }
  value = decimal.with_sign(read);
  return NumberKind::kNumber;
}

NumberKind read_long_integer(std::string_view text, const Decimal& decimal, double& value) {
  const auto exact = parse_integer(text);
  if (!exact) return read_slowly(decimal, value);
  value = static_cast<double>(*exact);
  return NumberKind::kInteger;
}

NumberKind read_infinity(const Decimal& decimal, double& value) {
  const std::string_view text(decimal.begin, static_cast<std::size_t>(decimal.end - decimal.begin));
  const auto is = [text](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                      [](char a, char b) { return a == b || a == b - 'a' + 'A'; });
  };
  if (!is("inf") && !is("infinity")) return NumberKind::kNone;
  value = decimal.with_sign(std::numeric_limits<double>::infinity());
  return NumberKind::kNumber;
}

}  // namespace

NumberKind parse_number(std::string_view text, double& value) {
  if (text.empty()) return NumberKind::kNone;
  if (text.front() <= ' ' || text.back() <= ' ') text = trimmed(text);
  const char* at = text.data();
  const char* const end = at + text.size();
  if (at == end) return NumberKind::kNone;
  const bool negative = *at == '-';
  if (negative || *at == '+') ++at;
  Decimal decimal{at, end, negative};
  at = read_digits(at, end, decimal.mantissa);
  decimal.whole = at - decimal.begin;
  if (at == end) {
    if (decimal.whole == 0) return NumberKind::kNone;
    if (decimal.whole > kSafeDigits) return read_long_integer(text, decimal, value);
    value = decimal.with_sign(static_cast<double>(decimal.mantissa));
    return NumberKind::kInteger;
  }
  if (*at == '.') {
    const char* const point = at;
    at = read_digits(at + 1, end, decimal.mantissa);
    decimal.fraction = at - point - 1;
  }
  if (decimal.digits() == 0) return at == decimal.begin ? read_infinity(decimal, value) : NumberKind::kNone;
  if (at != end) {
    if (*at != 'e' && *at != 'E') return NumberKind::kNone;
    at = read_exponent(at, end, decimal.exponent);
    if (at == nullptr) return NumberKind::kNone;
  }
  // A quotient or product of two numbers without rounding is rounded once, so it is right.
  const std::int64_t power = decimal.exponent - decimal.fraction;
  const std::size_t size = static_cast<std::size_t>(power < 0 ? -power : power);
  if (decimal.digits() > kSafeDigits || decimal.mantissa > kExactInteger || size >= kPowersOfTen.size())
    return read_slowly(decimal, value);
  const auto mantissa = static_cast<double>(decimal.mantissa);
  value = decimal.with_sign(power < 0 ? mantissa / kPowersOfTen[size] : mantissa * kPowersOfTen[size]);
  return NumberKind::kNumber;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  text = trimmed(text);
  if (text.size() > 1 && text.front() == '+' && digit_of(text[1]) < 10) text.remove_prefix(1);
  std::int64_t value = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [at, code] = std::from_chars(begin, end, value);
  if (code != std::errc() || at != end) return std::nullopt;
  return value;
}

std::string number_text(double value) {
  std::array<char, 32> text{};
  const bool whole = std::trunc(value) == value && std::fabs(value) < kIntegerEnd;
  const auto done =
      whole ? std::to_chars(text.data(), text.data() + text.size(), static_cast<std::int64_t>(value))
            : std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), done.ptr};
}

}  // namespace gpupool::carry::csv
