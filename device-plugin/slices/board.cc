#include "slices/board.h"

#include <utility>

namespace gpupool::slices {

Board::Board() : current_{0, std::make_shared<const Table>()} {}

bool Board::publish(Table table) {
  {
    const std::lock_guard lock(mutex_);
    if (current_.number > 0 && *current_.table == table) return false;
    current_ = {current_.number + 1, std::make_shared<const Table>(std::move(table))};
  }
  changed_.notify_all();
  return true;
}

Board::Version Board::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

Board::Version Board::wait_newer(std::uint64_t seen, std::stop_token stop) const {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, std::move(stop), [&] { return current_.number > seen; });
  return current_;
}

}  // namespace gpupool::slices
