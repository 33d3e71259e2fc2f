// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "settings/settings.h"

namespace gpupool::health {

// What one error of a GPU does to its health, and what it is in words.
struct ErrorMeaning {
  settings::ErrorAction action = settings::ErrorAction::kUnhealthy;
  const char* text = "";  // for people; never empty
};

// What the numbers in inventory::ErrorEvent mean: each vendor has its own. Immutable, so thread-safe.
struct ErrorCatalogue {
  std::string log_message;    // of the log line for each event, such as "XID"
  std::string log_key;        // of the number in that line, such as "xid"
  std::string reason_prefix;  // before the number in GpuHealth::reason, such as "Xid" in "Xid79"
  // Of any number: an unknown one has an action and a text, too. The settings may override the action. Pure.
  ErrorMeaning (*find)(std::uint64_t code) = nullptr;
};

}  // namespace gpupool::health
