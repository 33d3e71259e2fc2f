// SPDX-License-Identifier: Apache-2.0
#include "command/duration.h"

#include <array>
#include <charconv>
#include <cstdint>

namespace gpupool::command {
namespace {

struct Unit {
  std::string_view name;
  double milliseconds;
};

constexpr double kSecond = 1000;
constexpr double kLongest = kSecond * 3600 * 24 * 365 * 100;
// "ms" before "m".
constexpr std::array kUnits{Unit{"ms", 1}, Unit{"s", kSecond}, Unit{"m", kSecond * 60},
                            Unit{"h", kSecond * 3600}, Unit{"d", kSecond * 3600 * 24}};

const Unit* unit_of(std::string_view text) {
  for (const Unit& unit : kUnits) {
    if (text.starts_with(unit.name)) return &unit;
  }
  return nullptr;
}

std::string two(std::int64_t large, const char* large_unit, std::int64_t small, const char* small_unit) {
  std::string text = std::to_string(large) + large_unit;
  return small == 0 ? text : text + std::to_string(small) + small_unit;
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double total = 0;
  bool bare = true;  // nothing with a unit was seen
  while (!text.empty()) {
    if (text.front() < '0' || text.front() > '9') return std::nullopt;
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty() && bare) {
      total = number * kSecond;
      break;
    }
    const Unit* unit = unit_of(text);
    if (unit == nullptr) return std::nullopt;
    text.remove_prefix(unit->name.size());
    total += number * unit->milliseconds;
    bare = false;
  }
  if (total > kLongest) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(total));
}

// HumanDuration of apimachinery's duration package.
std::string age_text(std::chrono::seconds age) {
  const std::int64_t seconds = age.count();
  if (seconds <= 0) return "0s";
  if (seconds < 120) return std::to_string(seconds) + "s";
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return two(minutes, "m", seconds % 60, "s");
  if (minutes < 180) return std::to_string(minutes) + "m";
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return two(hours, "h", minutes % 60, "m");
  if (hours < 48) return std::to_string(hours) + "h";
  const std::int64_t days = hours / 24;
  if (days < 8) return two(days, "d", hours % 24, "h");
  constexpr std::int64_t kYear = 365;
  if (days < 2 * kYear) return std::to_string(days) + "d";
  if (days < 8 * kYear) return two(days / kYear, "y", days % kYear, "d");
  return std::to_string(days / kYear) + "y";
}

}  // namespace gpupool::command
