// SPDX-License-Identifier: Apache-2.0
#include "launcher/timestamp.h"

#include <array>
#include <chrono>
#include <cstdio>

namespace gpupool::launcher {
namespace {

// Without the zone. Not by gmtime, which reads /etc/localtime first.
std::string date_and_time(std::time_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 48> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02ld:%02ld:%02ld",
                    static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                    static_cast<unsigned>(date.day()), static_cast<long>(clock.hours().count()),
                    static_cast<long>(clock.minutes().count()), static_cast<long>(clock.seconds().count()));
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

std::string rfc3339(std::time_t seconds) { return date_and_time(seconds) + "Z"; }

std::string rfc3339(const std::timespec& time) {
  constexpr long kNanosecondsPerMillisecond = 1'000'000;
  std::array<char, 24> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03ldZ", time.tv_nsec / kNanosecondsPerMillisecond);
  return date_and_time(time.tv_sec) + fraction.data();
}

std::string rfc3339_now() {
  std::timespec now{};
  std::timespec_get(&now, TIME_UTC);
  return rfc3339(now);
}

}  // namespace gpupool::launcher
