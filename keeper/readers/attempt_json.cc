// SPDX-License-Identifier: Apache-2.0
#include "readers/attempt_json.h"

#include <nlohmann/json.hpp>

#include "base/rfc3339.h"

namespace gpupool::keeper {

using nlohmann::json;

std::string attempts_json(const std::vector<AttemptInfo>& attempts, const Limits& limits,
                          base::WallTime now) {
  json list = json::array();
  for (const AttemptInfo& attempt : attempts) {
    json one = {{"job", attempt.job},
                {"uid", attempt.id.uid},
                {"lease", attempt.id.lease},
                {"attempt", attempt.attempt},
                {"pool", attempt.pool},
                {"ranks", attempt.ranks},
                {"begin", base::to_rfc3339(attempt.begin)},
                {"bytes", attempt.bytes},
                {"lost", attempt.lost}};
    if (const auto end = end_of(attempt, limits, now)) {
      one["end"] = base::to_rfc3339(*end);
      const bool all = attempt.ended_ranks >= attempt.ranks;
      one["outcome"] = attempt.failure ? attempt.failure->outcome : all ? "exited" : "silent";
      if (attempt.failure) one["exitCode"] = attempt.failure->exit_code;
      if (!attempt.failure && all) one["exitCode"] = 0;
    }
    list.push_back(std::move(one));
  }
  return json{{"attempts", std::move(list)}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace gpupool::keeper
