// SPDX-License-Identifier: Apache-2.0
#include "slices/latest_table.h"

#include <utility>

namespace gpupool::slices {

LatestTable::LatestTable() : current_{0, std::make_shared<const Table>()} {}

bool LatestTable::publish(Table table) {
  {
    const base::MutexLock lock(mutex_);
    if (current_.number > 0 && *current_.table == table) return false;
    current_ = {current_.number + 1, std::make_shared<const Table>(std::move(table))};
  }
  changed_.notify_all();
  return true;
}

LatestTable::Version LatestTable::current() const {
  const base::MutexLock lock(mutex_);
  return current_;
}

LatestTable::Version LatestTable::wait_newer(std::uint64_t seen, std::stop_token stop) const {
  base::MutexLock lock(mutex_);
  changed_.wait(lock.native(), std::move(stop),
                [&]() GPUPOOL_REQUIRES(mutex_) { return current_.number > seen; });
  return current_;
}

}  // namespace gpupool::slices
