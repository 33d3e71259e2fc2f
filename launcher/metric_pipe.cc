// SPDX-License-Identifier: Apache-2.0
#include "launcher/metric_pipe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "launcher/metric_scan.h"

namespace gpupool::launcher {
namespace {

constexpr std::size_t kReadSize = std::size_t{16} << 10U;
constexpr std::size_t kMaxLine = std::size_t{16} << 10U;
constexpr int kReadsPerPump = 64;  // so that signals are looked at in between

}  // namespace

Expected<void> MetricPipe::open(const std::string& path) {
  ::unlink(path.c_str());
  if (::mkfifo(path.c_str(), 0600) != 0) return failure(with_errno("cannot make " + path, errno));
  // For writing too: otherwise poll() reports the end of the file from the first writer's end on.
  pipe_ = base::UniqueFd(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!pipe_.valid()) return failure(with_errno("cannot open " + path, errno));
  return {};
}

void MetricPipe::add_to(std::vector<pollfd>& events) const {
  if (pipe_.valid()) events.push_back({pipe_.get(), POLLIN, 0});
}

void MetricPipe::pump() {
  if (!pipe_.valid()) return;
  std::array<char, kReadSize> block;
  for (int i = 0; i < kReadsPerPump; ++i) {
    const ssize_t got = ::read(pipe_.get(), block.data(), block.size());
    if (got <= 0) return;
    open_.append(block.data(), static_cast<std::size_t>(got));
    read_lines();
  }
}

void MetricPipe::read_lines() {
  std::size_t begin = 0;
  for (std::size_t end = open_.find('\n'); end != std::string::npos; end = open_.find('\n', begin)) {
    if (!too_long_) scan_json_line(std::string_view(open_).substr(begin, end - begin), metrics_);
    too_long_ = false;
    begin = end + 1;
  }
  open_.erase(0, begin);
  if (open_.size() <= kMaxLine) return;
  open_.clear();
  too_long_ = true;
}

}  // namespace gpupool::launcher
