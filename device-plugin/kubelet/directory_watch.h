#pragma once

#include <stop_token>
#include <string>

#include "base/clock.h"

namespace gpupool::kubelet {

// Wakes a thread when something in a directory appears, goes or is written. It does not say what: the caller
// looks, so a lost event costs a delay and nothing more. For one waiting thread; wake() is for any.
class DirectoryWatch {
 public:
  explicit DirectoryWatch(std::string directory);
  ~DirectoryWatch();
  DirectoryWatch(const DirectoryWatch&) = delete;
  DirectoryWatch& operator=(const DirectoryWatch&) = delete;

  // Returns on a change since the last call, on wake(), after `limit`, or when stop is requested. Looks again
  // for a directory that is absent or was replaced, at every call.
  void wait(base::Duration limit, std::stop_token stop);
  void wake();

 private:
  void arm();

  const std::string directory_;
  int inotify_ = -1;
  int wake_ = -1;
  int watch_ = -1;              // -1: the directory is not there
  std::string armed_for_ = {};  // device and inode of the watched directory
};

}  // namespace gpupool::kubelet
