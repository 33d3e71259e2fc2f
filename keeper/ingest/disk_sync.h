// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace gpupool::keeper {

// Brings a file system to its disk, on a thread of its own: one call for all files, because there may be
// thousands. REQUIRES: begin() and end() are called by one thread.
class DiskSync {
 public:
  // folder: on the file system. on_done: called on the other thread.
  static base::Result<std::unique_ptr<DiskSync>> start(const std::string& folder,
                                                       std::function<void()> on_done);

  // REQUIRES: none runs.
  void begin();
  bool runs() const { return runs_; }
  // Whether the sync that runs is done, and how. Nothing if it is not done. It does not run afterwards.
  std::optional<bool> take_end();

 private:
  DiskSync(base::UniqueFd folder, std::function<void()> on_done);
  void run(const std::stop_token& stop);

  base::UniqueFd folder_;
  std::function<void()> on_done_;
  bool runs_ = false;  // of the caller's thread
  base::Mutex mutex_;
  std::condition_variable_any changed_;
  bool wanted_ GPUPOOL_GUARDED_BY(mutex_) = false;
  std::optional<bool> done_ GPUPOOL_GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it uses the others
};

}  // namespace gpupool::keeper
