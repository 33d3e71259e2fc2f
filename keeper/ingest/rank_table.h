// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/attempts.h"
#include "store/rank_log.h"

namespace gpupool::keeper {

using RankKey = std::pair<AttemptId, std::int64_t>;

// The ranks that are being written. Positions and limits are kept here; sockets are not. One thread.
class RankTable {
 public:
  // Both outlive the table.
  RankTable(Attempts& attempts, const base::Clock& clock) : attempts_(attempts), clock_(clock) {}

  // Opens the files of a rank, unless they are open. kIo.
  base::Result<void> open(const RankKey& key);
  // The next position that is wanted. REQUIRES, here and below: open() of the key.
  std::uint64_t next(const RankKey& key) const;
  bool ended(const RankKey& key) const;

  // payload: of a frame; it may begin before next(): what is known is left out. What is beyond a limit counts
  // as lost. kInvalidArgument: it is no frame, or begins behind next(). kIo: the disk; nothing was taken, and
  // it can be tried again.
  base::Result<void> add_frame(const RankKey& key, std::string_view payload);
  // payload: of a message of lost bytes. Errors as of add_frame.
  base::Result<void> add_lost(const RankKey& key, std::string_view payload);
  // payload: the JSON of an end. Errors as of add_frame.
  base::Result<void> end(const RankKey& key, std::string_view payload);

  // The writer is gone; the files are closed when they are on the disk.
  void close(const RankKey& key);

  // What the next sync brings to the disk.
  struct Batch {
    struct Rank {
      RankKey key;
      std::uint64_t position = 0;
      bool ended = false;
    };
    std::vector<Rank> ranks;
    std::vector<std::string> obsolete;  // files that may be removed then
  };
  bool dirty() const { return !dirty_.empty(); }
  Batch take_batch();
  // The batch is on the disk. Removes what is obsolete.
  void synced(const Batch& batch);
  // It is not; all of it is dirty again.
  void not_synced(Batch batch);

  std::uint64_t stored_bytes() const { return stored_bytes_; }  // of output, since the start
  std::uint64_t lost_bytes() const { return lost_bytes_; }

 private:
  struct Entry {
    std::unique_ptr<RankLog> log;
    std::uint64_t waiting_lost = 0;  // not written yet
    bool has_writer = true;
  };

  base::Result<void> write_lost(const RankKey& key, Entry& entry);
  void changed(const RankKey& key, const Entry& entry);

  Attempts& attempts_;
  const base::Clock& clock_;
  std::map<RankKey, Entry> ranks_;
  std::set<RankKey> dirty_;
  std::vector<std::string> obsolete_;
  std::uint64_t stored_bytes_ = 0;
  std::uint64_t lost_bytes_ = 0;
};

}  // namespace gpupool::keeper
