// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-nvml/file_wait.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace gpupool::fake_nvml {

FileWait::FileWait(const std::string& path) : inotify_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  const auto slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  inotify_add_watch(inotify_, directory.c_str(),
                    IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_TO | IN_DELETE | IN_CREATE);
}

FileWait::~FileWait() { close(inotify_); }

void FileWait::wait(std::chrono::milliseconds limit) {
  // A file that is mounted from elsewhere changes without an event in this directory.
  constexpr std::chrono::milliseconds kLookAgain{250};
  pollfd watched{.fd = inotify_, .events = POLLIN, .revents = 0};
  poll(&watched, 1, static_cast<int>(std::min(limit, kLookAgain).count()));
  std::array<char, 4096> events{};
  while (read(inotify_, events.data(), events.size()) > 0) {
  }
}

}  // namespace gpupool::fake_nvml
