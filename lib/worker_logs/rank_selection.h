// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpupool::logs {

// The ranks of a text such as "0,3-7", in order and each once. kInvalidArgument if it is none, or names a
// rank above `last`.
base::Result<std::vector<std::int64_t>> parse_ranks(std::string_view text, std::int64_t last);

struct RankChoice {
  std::vector<std::int64_t> ranks;  // in order
  std::int64_t left_out = 0;        // ranks for which there was no place
};

// The ranks that are shown of a job with so many workers if nobody names any: rank 0 and those that failed.
// At most `limit`. REQUIRES: limit > 0.
RankChoice usual_ranks(const std::vector<std::int64_t>& failed, std::int64_t limit);

// The first `limit` of the ranks. REQUIRES: limit > 0.
RankChoice limited(std::vector<std::int64_t> ranks, std::int64_t limit);

}  // namespace gpupool::logs
