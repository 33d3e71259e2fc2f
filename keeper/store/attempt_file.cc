// SPDX-License-Identifier: Apache-2.0
#include "store/attempt_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "base/read_file.h"

namespace gpupool::keeper {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr std::size_t kLongestOutcome = 32;

std::int64_t unix_ms(base::WallTime time) {
  return std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count();
}

template <class T>
T member(const json& object, const char* name, T otherwise) {
  const auto found = object.find(name);
  if (found == object.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->get<std::string>() : otherwise;
  } else {
    return found->is_number_integer() ? found->get<T>() : otherwise;
  }
}

// Of RANK.log, RANK.POSITION.raw or RANK.end.
std::optional<std::int64_t> rank_of(const std::string& file) {
  std::int64_t rank = 0;
  const auto read = std::from_chars(file.data(), file.data() + file.size(), rank);
  if (read.ec != std::errc() || *read.ptr != '.' || rank < 0) return std::nullopt;
  return rank;
}

}  // namespace

std::string write_attempt(const AttemptInfo& attempt) {
  const json object = {{"version", 1},
                       {"job", attempt.job},
                       {"attempt", attempt.attempt},
                       {"pool", attempt.pool},
                       {"ranks", attempt.ranks},
                       {"namespaceUID", attempt.namespace_uid},
                       {"beginUnixMs", unix_ms(attempt.begin)}};
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::optional<AttemptInfo> read_attempt(const std::string& folder, AttemptId id, Ranks& ranks) {
  const auto text = base::read_file(folder + "/" + kAttemptFile);
  const json object = text ? json::parse(*text, nullptr, false) : json();
  if (!object.is_object()) return std::nullopt;
  AttemptInfo attempt{.id = std::move(id),
                      .job = member<std::string>(object, "job", ""),
                      .attempt = member<std::int64_t>(object, "attempt", 0),
                      .pool = member<std::string>(object, "pool", ""),
                      .ranks = member<std::int64_t>(object, "ranks", 1),
                      .namespace_uid = member<std::string>(object, "namespaceUID", "")};
  attempt.begin = base::WallTime(milliseconds(member<std::int64_t>(object, "beginUnixMs", 0)));
  attempt.active = attempt.begin;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    struct stat found{};
    if (::stat(entry->path().c_str(), &found) != 0 || !S_ISREG(found.st_mode)) continue;
    attempt.active = std::max(attempt.active, std::chrono::system_clock::from_time_t(found.st_mtime));
    const auto rank = rank_of(entry->path().filename());
    if (!rank) continue;
    RankInfo& info = ranks[*rank];
    info.bytes += static_cast<std::uint64_t>(found.st_size);
    if (entry->path().extension() != ".end") continue;
    const auto json_text = base::read_file(entry->path());
    const auto record = json_text ? read_end(*json_text) : std::nullopt;
    info.end = record ? record->end : RankEnd{"unknown", 0};
    if (record) info.lost = record->lost;
  }
  return attempt;
}

std::string write_end(const EndRecord& record) {
  const json object = {
      {"outcome", record.end.outcome}, {"exit", record.end.exit_code}, {"lost", record.lost}};
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::optional<EndRecord> read_end(const std::string& text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  EndRecord record;
  record.end.outcome = member<std::string>(object, "outcome", "").substr(0, kLongestOutcome);
  record.end.exit_code = member<std::int64_t>(object, "exit", 0);
  record.lost = member<std::uint64_t>(object, "lost", 0);
  return record;
}

}  // namespace gpupool::keeper
