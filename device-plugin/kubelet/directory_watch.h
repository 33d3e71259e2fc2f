#pragma once

#include <atomic>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/log.h"

namespace gpupool::kubelet {

// Wakes a thread when something in a directory appears, goes or is written. It does not say what: the caller
// looks, so a lost event costs a delay and nothing more. While the directory is absent or the kernel has no
// inotify watch left, the caller looks every second. For one waiting thread; wake() is for any.
class DirectoryWatch {
 public:
  DirectoryWatch(std::string directory, base::Log log);
  ~DirectoryWatch();
  DirectoryWatch(const DirectoryWatch&) = delete;
  DirectoryWatch& operator=(const DirectoryWatch&) = delete;

  // Returns on a change since the last call, on wake(), after `limit`, or when stop is requested; without a
  // watch after a second at most; at times without reason. Every call tries to get a watch that is missing,
  // and finds a directory that was replaced.
  void wait(base::Duration limit, std::stop_token stop);
  void wake();

 private:
  void arm();
  // 0, or why there is no watch.
  int add_watch();
  void tell(int error);

  const std::string directory_;
  const base::Log log_;
  int inotify_ = -1;
  std::atomic<int> wake_ = -1;
  int watch_ = -1;  // -1: none
  int told_ = 0;    // why there is no watch, as logged last; 0: it works
};

}  // namespace gpupool::kubelet
