// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "store/attempts.h"

namespace gpupool::keeper {

inline constexpr char kAttemptFile[] = "attempt.json";

// What attempt.json holds: job, attempt, pool, ranks, namespace's UID, begin. Pure.
std::string write_attempt(const AttemptInfo& attempt);

// Reads an attempt's folder: attempt.json and the sizes and ends of its ranks. Nothing if it is none.
// bytes, lost and ended_ranks are not set; `ranks` has them.
std::optional<AttemptInfo> read_attempt(const std::string& folder, AttemptId id, Ranks& ranks);

// What a rank's end file and the launcher's last message hold: {"outcome","exit","lost"}. Pure.
struct EndRecord {
  RankEnd end = {};
  std::uint64_t lost = 0;
};
std::string write_end(const EndRecord& record);
std::optional<EndRecord> read_end(const std::string& json);

}  // namespace gpupool::keeper
