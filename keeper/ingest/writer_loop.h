// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>

#include "base/mutex.h"
#include "base/unique_fd.h"
#include "ingest/disk_sync.h"
#include "ingest/writer_server.h"

namespace gpupool::keeper {

// The thread of a WriterServer. wake() and set_keys() are for any thread, the rest is for the one that runs
// it.
class WriterLoop {
 public:
  WriterLoop(const IngestOptions& options, Attempts& attempts,
             std::function<void(const AttemptId&)> on_new_attempt, base::Clock& clock, base::Metrics& metrics,
             const base::Log& log);

  base::Result<void> listen();
  int port() const { return port_; }
  void run(const std::stop_token& stop);
  void wake() const;
  void set_keys(WriterServer::Keys keys);

 private:
  using Message = api::log_push::Message;
  static constexpr std::chrono::milliseconds kTick{100};

  void accept_writers();
  void listen_again(bool listens);
  void on_event(Writer& writer, std::uint32_t events);
  void take_messages(Writer& writer);
  // Returns false if the writer is to be closed.
  bool take(Writer& writer, Message type, std::string_view payload);
  bool take_hello(Writer& writer, std::string_view payload);
  bool take_auth(Writer& writer, std::string_view payload);
  bool take_data(Writer& writer, Message type, std::string_view payload);
  bool enter(Writer& writer);
  bool refuse(Writer& writer, bool for_ever, const std::string& why);
  std::optional<std::string> key_of(const std::string& id) const;

  void tick();
  void sync_if_due();
  void take_sync_end();
  void acknowledge(const RankTable::Batch& batch);
  void grant(Writer& writer, Message type);
  void watch(Writer& writer);
  void close(Writer& writer);
  void close_oldest_unauthenticated();

  const IngestOptions options_;
  Attempts& attempts_;
  std::function<void(const AttemptId&)> on_new_attempt_;
  base::Clock& clock_;
  const base::Log log_;
  base::Gauge& writers_gauge_;
  base::Counter& stored_;
  base::Counter& lost_;
  base::Counter& refused_;
  base::Counter& disk_errors_;
  base::Gauge& disk_is_full_;
  base::Histogram& sync_seconds_;
  RankTable table_;
  base::UniqueFd listener_;
  bool listens_ = true;
  base::UniqueFd epoll_;
  base::UniqueFd wake_event_;
  int port_ = 0;
  std::unordered_map<int, std::unique_ptr<Writer>> writers_;  // by descriptor
  std::map<RankKey, Writer*> by_rank_;
  std::map<std::string, std::size_t> by_namespace_;
  std::list<int> unauthenticated_;  // oldest first
  std::unique_ptr<DiskSync> sync_;
  std::optional<RankTable::Batch> batch_;  // that is being synced
  base::SteadyTime sync_begun_{};
  base::SteadyTime last_tick_{};
  base::SteadyTime last_try_{};
  bool end_waits_ = false;  // a launcher waits for its end to be on the disk
  std::uint64_t stored_told_ = 0;
  std::uint64_t lost_told_ = 0;
  mutable base::Mutex mutex_;
  WriterServer::Keys keys_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::keeper
