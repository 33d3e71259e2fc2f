// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace gpupool::command {

// Parses a duration as kubectl's flags take it: numbers with units ms, s, m, h, and d for 24 hours ("90s",
// "1h30m", "2d"), or a number of seconds alone. Nothing for other text, negative ones and those above 100
// years.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

// As kubectl prints ages: at most two units ("45s", "3m12s", "5h", "2d4h", "3y40d"). Negative ones are "0s".
std::string age_text(std::chrono::seconds age);

}  // namespace gpupool::command
