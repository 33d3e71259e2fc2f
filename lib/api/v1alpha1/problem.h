// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gpupool::api {

// Why something is stalled until a person acts. Shown as reason and message in a status and its conditions.
struct Problem {
  std::string reason;  // one of api::reason
  std::string message;
  bool operator==(const Problem&) const = default;
};

}  // namespace gpupool::api
