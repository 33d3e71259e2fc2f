// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "ingest/writer_loop.h"

// What a WriterLoop does from time to time: syncs, acknowledgements, retries.
namespace gpupool::keeper {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenSyncs{1000};
constexpr milliseconds kBetweenTries{1000};                  // to write what the disk has refused
constexpr std::uint64_t kLittle = std::uint64_t{64} * 1024;  // that a writer may still send

}  // namespace

void WriterLoop::tick() {
  const auto now = clock_.now();
  last_tick_ = now;
  std::vector<int> due;
  bool full = false;
  const bool tries = now - last_try_ >= kBetweenTries;
  if (tries) last_try_ = now;
  for (const auto& [fd, writer] : writers_) {
    full = full || writer->stuck.has_value();
    const bool resumes = writer->paused_until && *writer->paused_until <= now;
    if (resumes) writer->paused_until.reset();
    if (resumes ? !writer->stuck : (tries && writer->stuck)) due.push_back(fd);
    if (!writer->authenticated() && now - writer->since > options_.patience) due.push_back(fd);
    // Without output that is new on the disk there is no acknowledgement.
    if (tries && writer->state == Writer::State::kOpen &&
        table_.next(writer->key()) + kLittle > writer->granted && writer->allowed(options_.rate, now) > 0) {
      grant(*writer, Message::kAck);
      if (!resumes) due.push_back(fd);
    }
  }
  for (const int fd : due) {
    const auto found = writers_.find(fd);
    if (found == writers_.end()) continue;
    Writer& writer = *found->second;
    if (!writer.authenticated() && now - writer.since > options_.patience) {
      if (writer.state != Writer::State::kClosing) refused_.increment();
      close(writer);
    } else {
      take_messages(writer);
    }
  }
  disk_is_full_.set(full ? 1 : 0);
  writers_gauge_.set(static_cast<double>(by_rank_.size()));
  stored_.increment(
      static_cast<double>(table_.stored_bytes() - std::exchange(stored_told_, table_.stored_bytes())));
  lost_.increment(static_cast<double>(table_.lost_bytes() - std::exchange(lost_told_, table_.lost_bytes())));
}

void WriterLoop::sync_if_due() {
  if (sync_->runs() || !table_.dirty()) return;
  if (!end_waits_ && clock_.now() - sync_begun_ < kBetweenSyncs) return;
  end_waits_ = false;
  sync_begun_ = clock_.now();
  batch_ = table_.take_batch();
  sync_->begin();
}

void WriterLoop::take_sync_end() {
  const auto good = sync_->take_end();
  if (!good || !batch_) return;
  sync_seconds_.observe(std::chrono::duration<double>(clock_.now() - sync_begun_).count());
  RankTable::Batch batch = *std::exchange(batch_, std::nullopt);
  if (!*good) {
    disk_errors_.increment();
    log_.error("the disk could not be synced; nothing is acknowledged");
    return table_.not_synced(std::move(batch));
  }
  table_.synced(batch);
  acknowledge(batch);
}

void WriterLoop::acknowledge(const RankTable::Batch& batch) {
  for (const RankTable::Batch::Rank& rank : batch.ranks) {
    const auto found = by_rank_.find(rank.key);
    if (found == by_rank_.end()) continue;
    Writer& writer = *found->second;
    if (rank.ended) {
      writer.connection.send(Message::kEnded, "");
      by_rank_.erase(found);
      --by_namespace_[rank.key.first.ns];
      table_.close(rank.key);
      attempts_.leave(rank.key.first);
      writer.state = Writer::State::kClosing;
      writer.since = clock_.now();
    } else if (rank.position > writer.acked) {
      writer.acked = rank.position;
      grant(writer, Message::kAck);
    }
    if (writer.connection.flush()) {
      watch(writer);
    } else {
      close(writer);
    }
  }
}

// type: kHave or kAck.
void WriterLoop::grant(Writer& writer, Message type) {
  namespace push = api::log_push;
  const std::uint64_t next = table_.next(writer.key());
  writer.granted = std::max(writer.granted, next + writer.allowed(options_.rate, clock_.now()));
  std::string positions;
  push::put(positions, writer.acked);
  push::put(positions, writer.granted);
  writer.connection.send(type, positions);
}

}  // namespace gpupool::keeper
