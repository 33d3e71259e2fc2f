// SPDX-License-Identifier: Apache-2.0
#include "base/directory_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <thread>
#include <utility>

namespace gpupool::base {

namespace {

constexpr std::uint32_t kEvents = IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_CLOSE_WRITE |
                                  IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

constexpr Duration kLook = std::chrono::seconds(1);  // while there is no watch
constexpr Duration kLongest = std::chrono::hours(1);

void drain(int fd) {
  std::array<char, 4096> buffer{};
  while (fd >= 0 && ::read(fd, buffer.data(), buffer.size()) > 0) {
  }
}

std::string explain(int error) {
  const auto text = std::generic_category().message(error);
  switch (error) {
    case EMFILE:
      return text +
             ": raise the sysctl fs.inotify.max_user_instances of this node (or this process's limit of open "
             "files)";
    case ENOSPC:
      return text + ": raise the sysctl fs.inotify.max_user_watches of this node";
    default:
      return text;
  }
}

}  // namespace

DirectoryWatch::DirectoryWatch(std::string directory, Log log)
    : directory_(std::move(directory)), log_(std::move(log)) {
  arm();
}

void DirectoryWatch::arm() {
  if (wake_ < 0) {
    wake_event_.reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    wake_ = wake_event_.get();
    wake();  // an earlier wake() had nothing to write to
  }
  log_change(add_watch());
}

int DirectoryWatch::add_watch() {
  if (!inotify_.valid()) inotify_.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify_.valid()) return errno;
  // For a directory that is watched already this is the same number again.
  const int watch = ::inotify_add_watch(inotify_.get(), directory_.c_str(), kEvents);
  const int error = watch < 0 ? errno : 0;
  if (watch == watch_) return error;
  if (watch_ >= 0) ::inotify_rm_watch(inotify_.get(), watch_);  // the directory has gone or was replaced
  watch_ = watch;
  if (watch_ >= 0) wake();  // something may have happened before the watch began
  return error;
}

// Once for each reason, and once when it works again.
void DirectoryWatch::log_change(int error) {
  if (error == ENOENT || error == ENOTDIR) return;  // absent: the caller says so if it matters
  if (error == logged_) return;
  logged_ = error;
  if (error == 0) {
    log_.info("Watching the directory again", {{"directory", directory_}});
  } else {
    log_.warning("Cannot watch the directory, looking every second",
                 {{"directory", directory_}, {"why", explain(error)}});
  }
}

void DirectoryWatch::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof(one));
}

void DirectoryWatch::wait(Duration limit, std::stop_token stop) {
  const std::stop_callback on_stop(stop, [this] { wake(); });
  arm();
  limit = std::min(limit, watch_ >= 0 && wake_ >= 0 ? kLongest : kLook);
  std::array<pollfd, 2> fds{pollfd{wake_, POLLIN, 0}, pollfd{inotify_.get(), POLLIN, 0}};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
  const int ready = ::poll(fds.data(), fds.size(), static_cast<int>(std::max<std::int64_t>(ms, 0)));
  // Whatever the kernel lacks, it is not to be asked again at once.
  if (ready < 0 && errno != EINTR) std::this_thread::sleep_for(std::min(limit, kLook));
  drain(wake_);
  drain(inotify_.get());
}

}  // namespace gpupool::base
