#include "launcher/timestamp.h"

#include <array>
#include <chrono>
#include <cstdio>

namespace gpupool::launcher {

// Not by gmtime, which reads /etc/localtime first.
std::string rfc3339(std::time_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 48> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02ld:%02ld:%02ldZ",
                    static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                    static_cast<unsigned>(date.day()), static_cast<long>(clock.hours().count()),
                    static_cast<long>(clock.minutes().count()), static_cast<long>(clock.seconds().count()));
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string rfc3339_now() { return rfc3339(std::time(nullptr)); }

}  // namespace gpupool::launcher
