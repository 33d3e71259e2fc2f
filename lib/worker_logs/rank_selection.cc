// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/rank_selection.h"

#include <charconv>
#include <set>
#include <string>

namespace gpupool::logs {
namespace {

// -1 if the text is no number.
std::int64_t number_of(std::string_view text) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 ? number : -1;
}

}  // namespace

base::Result<std::vector<std::int64_t>> parse_ranks(std::string_view text, std::int64_t last) {
  const auto wrong = [&](std::string_view part, const std::string& why) {
    return base::fail(base::ErrorCode::kInvalidArgument, "--rank: '" + std::string(part) + "' " + why);
  };
  std::set<std::int64_t> ranks;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    const std::int64_t from = number_of(part.substr(0, dash));
    const std::int64_t to = dash == std::string_view::npos ? from : number_of(part.substr(dash + 1));
    if (from < 0 || to < from) return wrong(part, "is neither a rank nor a range such as 3-7");
    if (to > last) return wrong(part, "is beyond the last rank, " + std::to_string(last));
    for (std::int64_t rank = from; rank <= to; ++rank) ranks.insert(rank);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return std::vector<std::int64_t>(ranks.begin(), ranks.end());
}

RankChoice usual_ranks(const std::vector<std::int64_t>& failed, std::int64_t limit) {
  std::set<std::int64_t> ranks(failed.begin(), failed.end());
  ranks.insert(0);
  return limited({ranks.begin(), ranks.end()}, limit);
}

RankChoice limited(std::vector<std::int64_t> ranks, std::int64_t limit) {
  RankChoice choice{.ranks = std::move(ranks)};
  const auto count = static_cast<std::int64_t>(choice.ranks.size());
  if (count > limit) {
    choice.left_out = count - limit;
    choice.ranks.resize(static_cast<std::size_t>(limit));
  }
  return choice;
}

}  // namespace gpupool::logs
