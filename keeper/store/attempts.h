// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "store/attempt_id.h"

namespace gpupool::keeper {

struct Limits {
  std::uint64_t job_bytes = std::uint64_t{1} << 30;  // on the disk, of all attempts of a job
  std::uint64_t namespace_bytes = std::uint64_t{10} << 30;
  std::uint64_t total_bytes = std::uint64_t{50} << 30;
  std::chrono::hours retention{14 * 24};  // after the end
  // An attempt without a writer for so long has ended: its node was lost, or its workers were killed.
  std::chrono::hours silence{24};
};

// How a rank ended, as its launcher says.
struct RankEnd {
  std::string outcome = {};
  std::int64_t exit_code = 0;
};

struct AttemptInfo {
  AttemptId id = {};
  std::string job = {};      // name
  std::int64_t attempt = 0;  // its number for people, from 0
  std::string pool = {};
  std::int64_t ranks = 1;
  std::string namespace_uid = {};  // empty: not known
  base::WallTime begin{};          // by the keeper's clock
  base::WallTime active{};         // the last time that something came
  std::int64_t ended_ranks = 0;
  std::optional<RankEnd> failure = {};  // of the first rank that did not end with exit code 0
  std::uint64_t bytes = 0;              // on the disk
  std::uint64_t lost = 0;               // of the output
  int writers = 0;                      // connected now
};

struct RankInfo {
  std::uint64_t bytes = 0;  // on the disk
  std::uint64_t lost = 0;   // of the output
  std::optional<RankEnd> end = {};
};
using Ranks = std::map<std::int64_t, RankInfo>;

// When an attempt has ended; nothing if it has not.
std::optional<base::WallTime> end_of(const AttemptInfo& attempt, const Limits& limits, base::WallTime now);

enum class Room { kEnough, kJobIsFull, kNamespaceIsFull, kStoreIsFull };

// Which attempts the store holds, and how much of the limits they take. It is read from the folders at the
// start: DATA/NAMESPACE/JOBUID/LEASE/, with attempt.json and the files of ranks (rank_files.h). Thread-safe.
class Attempts {
 public:
  // kIo if the folder cannot be read. Attempts that cannot be read are left alone, and do not count.
  static base::Result<std::unique_ptr<Attempts>> open(const std::string& data, const Limits& limits,
                                                      const base::Clock& clock);

  // A writer of a rank comes: makes the attempt if it is new. Name, pool and ranks of one that exists stay as
  // they are. kInvalid: it takes no more, as the message says; kIo: the disk.
  base::Result<void> enter(const AttemptInfo& attempt, std::int64_t rank);
  void leave(const AttemptId& id);
  base::Result<void> set_namespace_uid(const AttemptId& id, const std::string& uid);

  // What the files of a rank are now.
  void grown(const AttemptId& id, std::int64_t rank, std::uint64_t disk_bytes, std::uint64_t lost);
  void ended(const AttemptId& id, std::int64_t rank, RankEnd end);

  // Whether more of an attempt may be stored. Removes the oldest ended attempts while there is no room.
  Room make_room(const AttemptId& id);
  // Removes what is older than the retention time.
  void remove_old();

  // Newest first. job, uid: empty: all.
  std::vector<AttemptInfo> list(const std::string& ns, const std::string& job, const std::string& uid) const;
  std::optional<AttemptInfo> find(const AttemptId& id) const;
  std::string folder(const AttemptId& id) const { return data_ + "/" + folder_of(id); }
  std::uint64_t total_bytes() const;
  std::size_t count() const;
  std::uint64_t removed() const;  // attempts, since the start
  const Limits& limits() const { return limits_; }

 private:
  Attempts(std::string data, const Limits& limits, const base::Clock& clock)
      : data_(std::move(data)), limits_(limits), clock_(clock) {}
  struct Entry {
    AttemptInfo info;
    Ranks ranks;
  };
  using Entries = std::map<AttemptId, Entry>;

  void read_folders();
  bool remove_oldest_ended(const std::string& ns) GPUPOOL_REQUIRES(mutex_);
  void remove(Entries::iterator found) GPUPOOL_REQUIRES(mutex_);
  void set_rank(Entry& entry, std::int64_t rank, const RankInfo& now) GPUPOOL_REQUIRES(mutex_);
  void add_bytes(AttemptInfo& attempt, std::uint64_t change) GPUPOOL_REQUIRES(mutex_);
  base::Result<void> write(const AttemptInfo& attempt) const;

  const std::string data_;
  const Limits limits_;
  const base::Clock& clock_;
  mutable base::Mutex mutex_;
  Entries attempts_ GPUPOOL_GUARDED_BY(mutex_);
  std::map<std::string, std::uint64_t> by_namespace_ GPUPOOL_GUARDED_BY(mutex_);
  std::map<std::pair<std::string, std::string>, std::uint64_t> by_job_ GPUPOOL_GUARDED_BY(mutex_);
  std::uint64_t total_ GPUPOOL_GUARDED_BY(mutex_) = 0;
  std::uint64_t removed_ GPUPOOL_GUARDED_BY(mutex_) = 0;
};

}  // namespace gpupool::keeper
