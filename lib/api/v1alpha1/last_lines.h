// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gpupool::api {

// In status.message of a job: what follows is the last output of one worker, to the end of the message.
inline constexpr std::string_view kLastLines = "; last lines:\n";

// The message without those lines.
inline std::string_view without_last_lines(std::string_view message) {
  return message.substr(0, message.find(kLastLines));
}

// Those lines; empty if there are none.
inline std::string_view last_lines(std::string_view message) {
  const auto at = message.find(kLastLines);
  return at == std::string_view::npos ? std::string_view() : message.substr(at + kLastLines.size());
}

}  // namespace gpupool::api
