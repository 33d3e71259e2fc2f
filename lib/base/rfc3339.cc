// SPDX-License-Identifier: Apache-2.0
#include "base/rfc3339.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace gpupool::base {

namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::chrono::sys_days kFirst = std::chrono::January / 1 / 1900;
constexpr std::chrono::sys_days kLast = std::chrono::January / 1 / 2181;

std::string date_and_time(WallTime time) {
  // Compared in seconds, because the first day that WallTime can express begins before its first nanosecond.
  const auto whole = std::chrono::floor<seconds>(time);
  const auto day = std::chrono::floor<days>(whole);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(whole - day);
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }

  // Takes the next character if it is in `any`; else returns 0.
  char take(std::string_view any) {
    if (rest_.empty() || any.find(rest_.front()) == std::string_view::npos) return 0;
    const char taken = rest_.front();
    rest_.remove_prefix(1);
    return taken;
  }

  // Takes exactly `count` digits. False if there are fewer, or if the value is over `max`.
  bool number(std::size_t count, int max, int& value) {
    if (rest_.size() < count) return false;
    value = 0;
    for (const char c : rest_.substr(0, count)) {
      if (c < '0' || c > '9') return false;
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return value <= max;
  }

  // Takes one digit or more as a fraction of a second. Digits below a nanosecond are dropped.
  bool fraction(nanoseconds& value) {
    std::int64_t unit = 100'000'000;
    std::int64_t sum = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits, unit /= 10) {
      sum += unit * (rest_[digits] - '0');
    }
    rest_.remove_prefix(digits);
    value = nanoseconds(sum);
    return digits > 0;
  }

 private:
  std::string_view rest_;
};

bool parse_date(Cursor& in, std::chrono::sys_days& day) {
  int year = 0;
  int month = 0;
  int day_of_month = 0;
  if (!in.number(4, 9999, year) || !in.take("-") || !in.number(2, 12, month) || !in.take("-") ||
      !in.number(2, 31, day_of_month)) {
    return false;
  }
  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day_of_month)));
  if (!date.ok()) return false;
  day = date;
  return true;
}

bool parse_time_of_day(Cursor& in, seconds& since_midnight, nanoseconds& fraction) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  // A leap second becomes the first second of the next minute.
  if (!in.number(2, 23, hour) || !in.take(":") || !in.number(2, 59, minute) || !in.take(":") ||
      !in.number(2, 60, second)) {
    return false;
  }
  since_midnight = hours(hour) + minutes(minute) + seconds(second);
  return !in.take(".") || in.fraction(fraction);
}

bool parse_offset(Cursor& in, minutes& offset) {
  if (in.take("Zz")) return true;
  const char sign = in.take("+-");
  int hour = 0;
  int minute = 0;
  if (!sign || !in.number(2, 23, hour) || !in.take(":") || !in.number(2, 59, minute)) return false;
  offset = hours(hour) + minutes(minute);
  if (sign == '-') offset = -offset;
  return true;
}

}  // namespace

std::string to_rfc3339(WallTime time) { return date_and_time(time) + "Z"; }

std::string to_rfc3339_micro(WallTime time) {
  const auto fraction = std::chrono::floor<microseconds>(time) -
                        std::chrono::floor<seconds>(time);  // floor, because it is right before 1970 too
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), ".%06dZ", static_cast<int>(fraction.count()));
  return date_and_time(time) + text.data();
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  Cursor in(text);
  std::chrono::sys_days day;
  seconds since_midnight{};
  nanoseconds fraction{};
  minutes offset{};
  if (!parse_date(in, day) || !in.take("Tt") || !parse_time_of_day(in, since_midnight, fraction) ||
      !parse_offset(in, offset) || !in.done()) {
    return std::nullopt;
  }
  const std::chrono::sys_seconds whole = day + since_midnight - offset;
  if (whole >= kLast) return kLast;
  if (whole < kFirst) return kFirst;
  return WallTime(whole) + fraction;
}

}  // namespace gpupool::base
