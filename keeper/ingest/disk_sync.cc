// SPDX-License-Identifier: Apache-2.0
#include "ingest/disk_sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "store/rank_files.h"

namespace gpupool::keeper {

base::Result<std::unique_ptr<DiskSync>> DiskSync::start(const std::string& folder,
                                                        std::function<void()> on_done) {
  base::UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.valid()) return file_error(folder);
  return std::unique_ptr<DiskSync>(new DiskSync(std::move(opened), std::move(on_done)));
}

DiskSync::DiskSync(base::UniqueFd folder, std::function<void()> on_done)
    : folder_(std::move(folder)),
      on_done_(std::move(on_done)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void DiskSync::begin() {
  runs_ = true;
  const base::MutexLock lock(mutex_);
  wanted_ = true;
  changed_.notify_all();
}

std::optional<bool> DiskSync::take_end() {
  const base::MutexLock lock(mutex_);
  const auto done = std::exchange(done_, std::nullopt);
  if (done) runs_ = false;
  return done;
}

void DiskSync::run(const std::stop_token& stop) {
  while (true) {
    {
      base::MutexLock lock(mutex_);
      if (!changed_.wait(lock.native(), stop, [this]() GPUPOOL_REQUIRES(mutex_) { return wanted_; })) return;
      wanted_ = false;
    }
    const bool good = ::syncfs(folder_.get()) == 0;
    {
      const base::MutexLock lock(mutex_);
      done_ = good;
    }
    on_done_();
  }
}

}  // namespace gpupool::keeper
