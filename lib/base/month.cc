// SPDX-License-Identifier: Apache-2.0
#include "base/month.h"

#include <chrono>

namespace gpupool::base {
namespace {

std::int64_t seconds_of_day(std::chrono::sys_days day) {
  return std::chrono::duration_cast<std::chrono::seconds>(day.time_since_epoch()).count();
}

Month month_from(std::chrono::year_month month) {
  const int year = static_cast<int>(month.year());
  const auto number = static_cast<unsigned int>(month.month());
  return {std::to_string(year) + (number < 10 ? "-0" : "-") + std::to_string(number),
          seconds_of_day(std::chrono::sys_days(month / 1)),
          seconds_of_day(std::chrono::sys_days((month + std::chrono::months(1)) / 1))};
}

// Nothing for a text that is not only digits.
std::optional<unsigned int> digits_of(std::string_view digits) {
  unsigned int number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = number * 10 + static_cast<unsigned int>(digit - '0');
  }
  return number;
}

}  // namespace

std::optional<Month> parse_month(std::string_view text) {
  constexpr std::size_t kYear = 4;
  constexpr std::size_t kWhole = 7;
  if (text.size() != kWhole || text[kYear] != '-') return std::nullopt;
  const auto year = digits_of(text.substr(0, kYear));
  const auto month = digits_of(text.substr(kYear + 1));
  if (!year || !month || *month < 1 || *month > 12) return std::nullopt;
  return month_from(
      std::chrono::year_month(std::chrono::year(static_cast<int>(*year)), std::chrono::month(*month)));
}

Month month_of(std::int64_t moment) {
  const auto day =
      std::chrono::floor<std::chrono::days>(std::chrono::sys_seconds(std::chrono::seconds(moment)));
  const std::chrono::year_month_day date(day);
  return month_from(date.year() / date.month());
}

}  // namespace gpupool::base
