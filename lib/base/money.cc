// SPDX-License-Identifier: Apache-2.0
#include "base/money.h"

#include <algorithm>
#include <limits>

#include "base/wide.h"

namespace gpupool::base {
namespace {

constexpr std::size_t kWholeDigits = 12;
constexpr std::size_t kFractionDigits = 6;
constexpr Micros kOne = 1'000'000;
constexpr std::int64_t kSecondsOfHour = 3600;

bool all_digits(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::int64_t number_of(std::string_view digits) {
  std::int64_t number = 0;
  for (const char digit : digits) number = number * 10 + (digit - '0');
  return number;
}

}  // namespace

std::optional<Micros> parse_micros(std::string_view text) {
  const auto point = std::min(text.find('.'), text.size());
  const auto whole = text.substr(0, point);
  if (whole.empty() || whole.size() > kWholeDigits || !all_digits(whole)) return std::nullopt;
  std::string fraction;
  if (point < text.size()) {
    fraction = text.substr(point + 1);
    if (fraction.empty() || fraction.size() > kFractionDigits || !all_digits(fraction)) return std::nullopt;
  }
  fraction.resize(kFractionDigits, '0');
  return number_of(whole) * kOne + number_of(fraction);
}

std::string micros_text(Micros amount) {
  const auto positive = static_cast<std::uint64_t>(amount);
  const auto size = amount < 0 ? 0 - positive : positive;
  auto fraction = std::to_string(size % kOne);
  fraction.insert(0, kFractionDigits - fraction.size(), '0');
  return (amount < 0 ? "-" : "") + std::to_string(size / kOne) + "." + fraction;
}

std::optional<Charge> charge_for(Micros price, std::int64_t units, std::int64_t split, std::int64_t seconds,
                                 std::int64_t carry) {
  const Wide parts = Wide{kSecondsOfHour} * split;
  Wide unit_seconds = 0;
  Wide all = 0;
  if (__builtin_mul_overflow(Wide{units}, Wide{seconds}, &unit_seconds) ||
      __builtin_mul_overflow(unit_seconds, Wide{price}, &all) ||
      __builtin_add_overflow(all, Wide{carry}, &all))
    return std::nullopt;
  const Wide amount = all / parts;
  if (amount > std::numeric_limits<Micros>::max()) return std::nullopt;
  return Charge{static_cast<Micros>(amount), static_cast<std::int64_t>(all % parts)};
}

}  // namespace gpupool::base
