#include "kubelet/directory_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace gpupool::kubelet {

namespace {

constexpr std::uint32_t kEvents = IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | IN_CLOSE_WRITE |
                                  IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

void drain(int fd) {
  std::array<char, 4096> buffer{};
  while (fd >= 0 && ::read(fd, buffer.data(), buffer.size()) > 0) {
  }
}

}  // namespace

DirectoryWatch::DirectoryWatch(std::string directory)
    : directory_(std::move(directory)),
      inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  arm();
}

DirectoryWatch::~DirectoryWatch() {
  if (inotify_ >= 0) ::close(inotify_);
  if (wake_ >= 0) ::close(wake_);
}

void DirectoryWatch::arm() {
  struct stat status{};
  const bool there = ::stat(directory_.c_str(), &status) == 0;
  const auto now = there ? std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) : "";
  if (now == armed_for_ && (watch_ >= 0) == there) return;
  if (watch_ >= 0) ::inotify_rm_watch(inotify_, watch_);
  watch_ = there ? ::inotify_add_watch(inotify_, directory_.c_str(), kEvents) : -1;
  armed_for_ = now;
  wake();  // what happened before the watch began is news, too
}

void DirectoryWatch::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof(one));
}

void DirectoryWatch::wait(base::Duration limit, std::stop_token stop) {
  const std::stop_callback on_stop(stop, [this] { wake(); });
  arm();
  std::array<pollfd, 2> fds{pollfd{wake_, POLLIN, 0}, pollfd{inotify_, POLLIN, 0}};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
  ::poll(fds.data(), fds.size(), static_cast<int>(std::clamp<std::int64_t>(ms, 0, 3'600'000)));
  drain(wake_);
  drain(inotify_);
}

}  // namespace gpupool::kubelet
