// SPDX-License-Identifier: Apache-2.0
#include "store/attempts.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <utility>

#include "store/attempt_file.h"
#include "store/rank_files.h"

namespace gpupool::keeper {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> folders_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    const std::string name = entry->path().filename();
    if (entry->is_directory(unknown) && is_folder_name(name)) names.push_back(name);
  }
  return names;
}

std::optional<std::int64_t> number_of(const std::string& text) {
  std::int64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto read = std::from_chars(text.data(), last, number);
  if (read.ec != std::errc() || read.ptr != last || number < 0) return std::nullopt;
  return number;
}

bool has_failed(const RankInfo& rank) {
  return rank.end && (rank.end->outcome != "exited" || rank.end->exit_code != 0);
}

}  // namespace

std::optional<base::WallTime> end_of(const AttemptInfo& attempt, const Limits& limits, base::WallTime now) {
  if (attempt.ended_ranks >= attempt.ranks) return attempt.active;
  if (attempt.writers == 0 && now - attempt.active > limits.silence) return attempt.active;
  return std::nullopt;
}

base::Result<std::unique_ptr<Attempts>> Attempts::open(const std::string& data, const Limits& limits,
                                                       const base::Clock& clock) {
  std::error_code error;
  fs::create_directories(data, error);
  if (error) return base::fail(base::ErrorCode::kIo, data + ": " + error.message());
  std::unique_ptr<Attempts> attempts(new Attempts(data, limits, clock));
  attempts->read_folders();
  return attempts;
}

void Attempts::read_folders() {
  const base::MutexLock lock(mutex_);
  for (const auto& ns : folders_in(data_)) {
    for (const auto& uid : folders_in(fs::path(data_) / ns)) {
      for (const auto& name : folders_in(fs::path(data_) / ns / uid)) {
        const auto number = number_of(name);
        if (!number) continue;
        const AttemptId id{ns, uid, *number};
        Ranks ranks;
        auto attempt = read_attempt(folder(id), id, ranks);
        if (!attempt) continue;
        Entry& entry = attempts_[id];
        entry = {std::move(*attempt), {}};
        for (const auto& [rank, info] : ranks) set_rank(entry, rank, info);
      }
    }
  }
}

base::Result<void> Attempts::enter(const AttemptInfo& attempt, std::int64_t rank) {
  const auto closed = [](std::string why) { return base::fail(base::ErrorCode::kInvalid, std::move(why)); };
  const base::MutexLock lock(mutex_);
  auto found = attempts_.find(attempt.id);
  const auto now = clock_.wall();
  if (found == attempts_.end()) {
    AttemptInfo made = attempt;
    made.begin = made.active = now;
    made.writers = 0;
    std::error_code error;
    fs::create_directories(folder(made.id), error);
    if (error) return base::fail(base::ErrorCode::kIo, folder(made.id) + ": " + error.message());
    if (auto written = write(made); !written) return written;
    const AttemptId id = made.id;
    found = attempts_.emplace(id, Entry{std::move(made), {}}).first;
  }
  AttemptInfo& known = found->second.info;
  if (rank >= known.ranks) return closed("the attempt has " + std::to_string(known.ranks) + " ranks");
  const auto its = found->second.ranks.find(rank);
  if (its != found->second.ranks.end() && its->second.end) return closed("the rank has ended");
  if (end_of(known, limits_, now)) return closed("the attempt has ended: no writer came for a day");
  ++known.writers;
  known.active = now;
  return {};
}

void Attempts::leave(const AttemptId& id) {
  const base::MutexLock lock(mutex_);
  const auto found = attempts_.find(id);
  if (found == attempts_.end()) return;
  --found->second.info.writers;
  found->second.info.active = clock_.wall();
}

base::Result<void> Attempts::set_namespace_uid(const AttemptId& id, const std::string& uid) {
  const base::MutexLock lock(mutex_);
  const auto found = attempts_.find(id);
  if (found == attempts_.end() || !found->second.info.namespace_uid.empty()) return {};
  found->second.info.namespace_uid = uid;
  return write(found->second.info);
}

void Attempts::grown(const AttemptId& id, std::int64_t rank, std::uint64_t disk_bytes, std::uint64_t lost) {
  const base::MutexLock lock(mutex_);
  const auto found = attempts_.find(id);
  if (found == attempts_.end()) return;
  RankInfo now = found->second.ranks[rank];
  now.bytes = disk_bytes;
  now.lost = lost;
  set_rank(found->second, rank, now);
  found->second.info.active = clock_.wall();
}

void Attempts::ended(const AttemptId& id, std::int64_t rank, RankEnd end) {
  const base::MutexLock lock(mutex_);
  const auto found = attempts_.find(id);
  if (found == attempts_.end()) return;
  RankInfo now = found->second.ranks[rank];
  now.end = std::move(end);
  set_rank(found->second, rank, now);
  found->second.info.active = clock_.wall();
}

void Attempts::set_rank(Entry& entry, std::int64_t rank, const RankInfo& now) {
  RankInfo& known = entry.ranks[rank];
  AttemptInfo& info = entry.info;
  add_bytes(info, now.bytes - known.bytes);
  info.lost += now.lost - known.lost;
  if (now.end && !known.end) ++info.ended_ranks;
  known = now;
  if (!has_failed(now)) return;
  const auto first = std::ranges::find_if(entry.ranks, [](const auto& of) { return has_failed(of.second); });
  info.failure = first->second.end;
}

Room Attempts::make_room(const AttemptId& id) {
  const base::MutexLock lock(mutex_);
  if (by_job_[{id.ns, id.uid}] >= limits_.job_bytes) return Room::kJobIsFull;
  while (by_namespace_[id.ns] >= limits_.namespace_bytes) {
    if (!remove_oldest_ended(id.ns)) return Room::kNamespaceIsFull;
  }
  while (total_ >= limits_.total_bytes) {
    if (!remove_oldest_ended("")) return Room::kStoreIsFull;
  }
  return Room::kEnough;
}

void Attempts::remove_old() {
  const base::MutexLock lock(mutex_);
  const auto now = clock_.wall();
  for (auto attempt = attempts_.begin(); attempt != attempts_.end();) {
    const auto next = std::next(attempt);
    const auto end = end_of(attempt->second.info, limits_, now);
    if (end && now - *end > limits_.retention) remove(attempt);
    attempt = next;
  }
}

// Of one namespace; empty: of all. False if none has ended.
bool Attempts::remove_oldest_ended(const std::string& ns) {
  const auto now = clock_.wall();
  auto oldest = attempts_.end();
  std::optional<base::WallTime> its_end;
  for (auto attempt = attempts_.begin(); attempt != attempts_.end(); ++attempt) {
    if (!ns.empty() && attempt->first.ns != ns) continue;
    const auto end = end_of(attempt->second.info, limits_, now);
    if (!end || attempt->second.info.writers > 0 || (its_end && *end >= *its_end)) continue;
    oldest = attempt;
    its_end = end;
  }
  if (oldest == attempts_.end()) return false;
  remove(oldest);
  return true;
}

void Attempts::remove(Entries::iterator found) {
  const AttemptId id = found->first;
  add_bytes(found->second.info, 0 - found->second.info.bytes);
  attempts_.erase(found);
  ++removed_;
  std::error_code error;
  fs::remove_all(folder(id), error);
  // Only if nothing else is in them.
  fs::remove(data_ + "/" + id.ns + "/" + id.uid, error);
  fs::remove(data_ + "/" + id.ns, error);
}

// change: modulo 2^64, so that less can be added too.
void Attempts::add_bytes(AttemptInfo& attempt, std::uint64_t change) {
  attempt.bytes += change;
  total_ += change;
  const auto add = [change](auto& sums, const auto& key) {
    auto& sum = sums[key];
    sum += change;
    if (sum == 0) sums.erase(key);
  };
  add(by_namespace_, attempt.id.ns);
  add(by_job_, std::pair(attempt.id.ns, attempt.id.uid));
}

base::Result<void> Attempts::write(const AttemptInfo& attempt) const {
  return replace_file(folder(attempt.id) + "/" + kAttemptFile, write_attempt(attempt));
}

std::vector<AttemptInfo> Attempts::list(const std::string& ns, const std::string& job,
                                        const std::string& uid) const {
  std::vector<AttemptInfo> found;
  {
    const base::MutexLock lock(mutex_);
    for (auto attempt = attempts_.lower_bound({ns, "", 0});
         attempt != attempts_.end() && attempt->first.ns == ns; ++attempt) {
      if (!job.empty() && attempt->second.info.job != job) continue;
      if (!uid.empty() && attempt->first.uid != uid) continue;
      found.push_back(attempt->second.info);
    }
  }
  std::ranges::stable_sort(found, [](const AttemptInfo& a, const AttemptInfo& b) {
    return std::pair(a.begin, a.id.lease) > std::pair(b.begin, b.id.lease);
  });
  return found;
}

std::optional<AttemptInfo> Attempts::find(const AttemptId& id) const {
  const base::MutexLock lock(mutex_);
  const auto found = attempts_.find(id);
  if (found == attempts_.end()) return std::nullopt;
  return found->second.info;
}

std::uint64_t Attempts::total_bytes() const {
  const base::MutexLock lock(mutex_);
  return total_;
}

std::size_t Attempts::count() const {
  const base::MutexLock lock(mutex_);
  return attempts_.size();
}

std::uint64_t Attempts::removed() const {
  const base::MutexLock lock(mutex_);
  return removed_;
}

}  // namespace gpupool::keeper
