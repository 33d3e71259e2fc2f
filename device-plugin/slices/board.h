#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>

#include "slices/table.h"

namespace gpupool::slices {

// The newest table with its version, for one writer and any number of readers that each see every change
// they wait for. Thread-safe.
class Board {
 public:
  struct Version {
    std::uint64_t number = 0;  // 0: nothing was published yet, and table is empty, never null
    std::shared_ptr<const Table> table;
  };

  Board();
  // An equal table is no news and keeps its version. Returns whether it was news.
  bool publish(Table table);
  Version current() const;
  // The newest one once it is newer than `seen`; when stop is requested, whatever is current.
  Version wait_newer(std::uint64_t seen, std::stop_token stop) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  Version current_;
};

}  // namespace gpupool::slices
