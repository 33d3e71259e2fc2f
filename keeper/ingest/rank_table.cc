// SPDX-License-Identifier: Apache-2.0
#include "ingest/rank_table.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "api/log_push_format.h"
#include "store/attempt_file.h"

namespace gpupool::keeper {
namespace {

namespace push = api::log_push;

constexpr std::size_t kPositionBytes = sizeof(std::uint64_t);

tl::unexpected<base::Error> bad(const char* why) {
  return base::fail(base::ErrorCode::kInvalidArgument, why);
}

// The chunks of a frame from a position on.
struct Taken {
  std::string chunks = {};
  std::uint64_t bytes = 0;
  std::uint64_t last_ns = 0;
};

base::Result<Taken> take_from(std::string_view payload, std::uint64_t next) {
  if (payload.size() < kPositionBytes) return bad("a frame without a position");
  auto at = push::get<std::uint64_t>(payload);
  if (at > next) return bad("a frame begins behind what was asked for");
  std::string_view rest = payload.substr(kPositionBytes);
  Taken taken;
  while (auto chunk = push::take_chunk(rest)) {
    if ((chunk->stream != push::Stream::kStdout && chunk->stream != push::Stream::kStderr) ||
        chunk->bytes.empty())
      return bad("a frame has a chunk that is none");
    const std::uint64_t known = std::min<std::uint64_t>(next > at ? next - at : 0, chunk->bytes.size());
    at += chunk->bytes.size();
    chunk->bytes.remove_prefix(known);
    if (chunk->bytes.empty()) continue;
    push::put_chunk(taken.chunks, *chunk);
    taken.bytes += chunk->bytes.size();
    taken.last_ns = std::max(taken.last_ns, chunk->unix_ns);
  }
  if (!rest.empty()) return bad("a frame ends in the middle of a chunk");
  return taken;
}

std::uint64_t unix_ns(const base::Clock& clock) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(clock.wall().time_since_epoch()).count());
}

}  // namespace

base::Result<void> RankTable::open(const RankKey& key) {
  if (const auto found = ranks_.find(key); found != ranks_.end()) {
    found->second.has_writer = true;
    return {};
  }
  auto log = RankLog::open(attempts_.folder(key.first), key.second);
  if (!log) return tl::unexpected<base::Error>(log.error());
  const Entry& entry = ranks_[key] = Entry{std::move(*log)};
  attempts_.grown(key.first, key.second, entry.log->disk_bytes(), entry.log->lost());
  return {};
}

std::uint64_t RankTable::next(const RankKey& key) const {
  const Entry& entry = ranks_.at(key);
  return entry.log->next() + entry.waiting_lost;
}

bool RankTable::ended(const RankKey& key) const { return ranks_.at(key).log->ended(); }

base::Result<void> RankTable::add_frame(const RankKey& key, std::string_view payload) {
  Entry& entry = ranks_.at(key);
  const auto taken = take_from(payload, next(key));
  if (!taken) return tl::unexpected<base::Error>(taken.error());
  if (taken->bytes == 0) return {};
  if (attempts_.make_room(key.first) != Room::kEnough) {
    entry.waiting_lost += taken->bytes;
    lost_bytes_ += taken->bytes;
    dirty_.insert(key);
    return {};
  }
  if (auto written = write_lost(key, entry); !written) return written;
  if (auto added = entry.log->append(taken->chunks, taken->bytes, taken->last_ns); !added) return added;
  stored_bytes_ += taken->bytes;
  changed(key, entry);
  return {};
}

base::Result<void> RankTable::add_lost(const RankKey& key, std::string_view payload) {
  if (payload.size() != 2 * kPositionBytes) return bad("a message of lost bytes has another length");
  Entry& entry = ranks_.at(key);
  const auto at = push::get<std::uint64_t>(payload);
  const auto bytes = push::get<std::uint64_t>(payload.substr(kPositionBytes));
  const std::uint64_t wanted = next(key);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
  if (at > wanted || bytes > kMost || wanted > kMost)
    return bad("lost bytes begin behind what was asked for");
  const std::uint64_t known = wanted - at;
  if (bytes <= known) return {};
  entry.waiting_lost += bytes - known;
  lost_bytes_ += bytes - known;
  dirty_.insert(key);
  return {};
}

base::Result<void> RankTable::end(const RankKey& key, std::string_view payload) {
  Entry& entry = ranks_.at(key);
  auto record = read_end(std::string(payload));
  if (!record) return bad("an end that is no JSON object");
  if (auto written = write_lost(key, entry); !written) return written;
  record->lost = entry.log->lost();
  if (auto ended = entry.log->end(write_end(*record)); !ended) return ended;
  changed(key, entry);
  attempts_.ended(key.first, key.second, record->end);
  return {};
}

void RankTable::close(const RankKey& key) {
  const auto found = ranks_.find(key);
  if (found == ranks_.end()) return;
  found->second.has_writer = false;
  if (!dirty_.contains(key)) ranks_.erase(found);
}

base::Result<void> RankTable::write_lost(const RankKey& key, Entry& entry) {
  if (entry.waiting_lost == 0) return {};
  if (auto lost = entry.log->lose(entry.waiting_lost, unix_ns(clock_)); !lost) return lost;
  entry.waiting_lost = 0;
  changed(key, entry);
  return {};
}

void RankTable::changed(const RankKey& key, const Entry& entry) {
  dirty_.insert(key);
  attempts_.grown(key.first, key.second, entry.log->disk_bytes(), entry.log->lost());
}

RankTable::Batch RankTable::take_batch() {
  Batch batch;
  batch.obsolete = std::exchange(obsolete_, {});
  std::set<RankKey> again;
  for (const RankKey& key : std::exchange(dirty_, {})) {
    const auto found = ranks_.find(key);
    if (found == ranks_.end()) continue;
    Entry& entry = found->second;
    if (!write_lost(key, entry)) again.insert(key);  // the disk is full
    for (std::string& file : entry.log->take_obsolete()) batch.obsolete.push_back(std::move(file));
    batch.ranks.push_back({key, entry.log->next(), entry.log->ended()});
  }
  dirty_ = std::move(again);
  return batch;
}

void RankTable::synced(const Batch& batch) {
  for (const std::string& file : batch.obsolete) ::unlink(file.c_str());
  for (const Batch::Rank& rank : batch.ranks) {
    const auto found = ranks_.find(rank.key);
    if (found != ranks_.end() && !found->second.has_writer && !dirty_.contains(rank.key)) ranks_.erase(found);
  }
}

void RankTable::not_synced(Batch batch) {
  for (Batch::Rank& rank : batch.ranks) {
    if (ranks_.contains(rank.key)) dirty_.insert(rank.key);
  }
  std::ranges::move(batch.obsolete, std::back_inserter(obsolete_));
}

}  // namespace gpupool::keeper
