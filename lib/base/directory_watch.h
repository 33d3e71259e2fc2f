// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/unique_fd.h"

namespace gpupool::base {

// Wakes a thread when something in a directory is created, removed or written. It does not say what: the
// caller looks at the files, so a lost event costs a delay and nothing more. While the directory is absent or
// the kernel has no inotify watch left, wait() returns at least every second instead. One thread waits;
// wake() may be called by any.
class DirectoryWatch {
 public:
  DirectoryWatch(std::string directory, Log log);
  // REQUIRES: no thread is in wait() or wake().
  ~DirectoryWatch() = default;
  DirectoryWatch(const DirectoryWatch&) = delete;
  DirectoryWatch& operator=(const DirectoryWatch&) = delete;

  // Returns on a change since the last call, on wake(), after `limit`, or when stop is requested; without a
  // watch after a second at most. May return without a reason. Every call tries to get a watch that is
  // missing, and notices a directory that was replaced.
  void wait(Duration limit, std::stop_token stop);
  void wake();

 private:
  void arm();
  // 0, or the errno that says why there is no watch.
  int add_watch();
  void log_change(int error);

  const std::string directory_;
  const Log log_;
  UniqueFd inotify_;
  UniqueFd wake_event_;
  std::atomic<int> wake_ = -1;  // the number of wake_event_, for wake() on other threads
  int watch_ = -1;              // inotify's number; -1: none
  int logged_ = 0;              // the errno that was logged last; 0: the watch works
};

}  // namespace gpupool::base
