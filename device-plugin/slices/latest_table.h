// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "base/mutex.h"
#include "slices/table.h"

namespace gpupool::slices {

// The published table with its version number. The agent's thread publishes; gRPC's threads read, and each
// stream's thread waits for the next version. Thread-safe. Unlike base::Latest it announces changes.
class LatestTable {
 public:
  struct Version {
    std::uint64_t number = 0;  // 0: nothing was published yet, and table is empty, never null
    std::shared_ptr<const Table> table;
  };

  LatestTable();
  // Replaces the table and wakes all waiting threads. An equal table changes nothing and keeps its version.
  // Returns whether the table has changed.
  bool publish(Table table);
  Version current() const;
  // Blocks until the version is newer than `seen`; when stop is requested, returns the current one.
  Version wait_newer(std::uint64_t seen, std::stop_token stop) const;

 private:
  mutable base::Mutex mutex_;
  mutable std::condition_variable_any changed_;
  Version current_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::slices
