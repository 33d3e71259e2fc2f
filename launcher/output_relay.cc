// SPDX-License-Identifier: Apache-2.0
#include "launcher/output_relay.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

namespace gpupool::launcher {
namespace {

constexpr std::size_t kReadSize = std::size_t{64} << 10U;
// An unprivileged process may enlarge a pipe to 1 MiB (/proc/sys/fs/pipe-max-size).
constexpr std::size_t kAheadLimit = std::size_t{4} << 20U;
// Moves in one pump(), so that signals are looked at in between.
constexpr int kMovesPerPump = 64;

bool same_file(int one, int other) {
  struct stat a{};
  struct stat b{};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool writable_now(int fd) {
  pollfd event{fd, POLLOUT, 0};
  return ::poll(&event, 1, 0) > 0;
}

}  // namespace

Expected<base::UniqueFd> OutputRelay::open_stream(int to, std::size_t index) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return failure(with_errno("cannot make a pipe", errno));
  Stream stream;
  stream.from = base::UniqueFd(ends[0]);
  stream.to = to;
  stream.index = index;
  // Our end only: the command's end must block as usual.
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  streams_.push_back(std::move(stream));
  return base::UniqueFd(ends[1]);
}

Expected<void> OutputRelay::open() {
  Expected<base::UniqueFd> out = open_stream(STDOUT_FILENO, 0);
  if (!out) return failure(out.error());
  command_stdout_ = std::move(*out);
  if (same_file(STDOUT_FILENO, STDERR_FILENO)) return {};
  Expected<base::UniqueFd> err = open_stream(STDERR_FILENO, 1);
  if (!err) return failure(err.error());
  command_stderr_ = std::move(*err);
  return {};
}

int OutputRelay::command_stderr() const {
  return command_stderr_.valid() ? command_stderr_.get() : command_stdout_.get();
}

void OutputRelay::close_command_ends() {
  command_stdout_.reset();
  command_stderr_.reset();
}

void OutputRelay::add_to(std::vector<pollfd>& events) const {
  for (const Stream& stream : streams_) {
    if (stream.left() > 0) {
      events.push_back({stream.to, POLLOUT, 0});
    } else if (stream.from.valid()) {
      events.push_back({stream.from.get(), POLLIN, 0});
    }
  }
}

void OutputRelay::pump() { pump(1); }

void OutputRelay::pump_ahead() { pump(kAheadLimit); }

void OutputRelay::pump(std::size_t read_limit) {
  for (Stream& stream : streams_) {
    for (int move = 0; move < kMovesPerPump; ++move) {
      const bool wrote = stream.left() > 0 && write_some(stream);
      const bool read = stream.left() < read_limit && stream.from.valid() && read_some(stream);
      if (!wrote && !read) break;
    }
  }
}

bool OutputRelay::read_some(Stream& stream) {
  std::array<char, kReadSize> block;
  const ssize_t got = ::read(stream.from.get(), block.data(), block.size());
  if (got < 0) return errno == EINTR;
  if (got == 0) {
    stream.from.reset();
    return false;
  }
  const std::string_view bytes(block.data(), static_cast<std::size_t>(got));
  tail_.append(stream.index, bytes);
  metrics_.append(stream.index, bytes);
  if (push_ != nullptr) push_->append(stream.index, bytes);
  stream.pending.erase(0, stream.written);
  stream.written = 0;
  stream.pending += bytes;
  return true;
}

bool OutputRelay::write_some(Stream& stream) {
  // Our stdout is shared with others, so it must not be made non-blocking. After POLLOUT a pipe takes
  // PIPE_BUF bytes without blocking.
  if (!writable_now(stream.to)) return false;
  const std::size_t size = std::min<std::size_t>(stream.left(), PIPE_BUF);
  const ssize_t done = ::write(stream.to, stream.pending.data() + stream.written, size);
  if (done > 0) stream.written += static_cast<std::size_t>(done);
  if (done < 0 && errno == EPIPE) {
    // The command's next write fails as it would on the broken pipe itself.
    stream.from.reset();
    stream.written = stream.pending.size();
  } else if (done < 0 && errno != EINTR && errno != EAGAIN) {
    stream.written = stream.pending.size();  // a full disk behind stdout: lost, but the command goes on
  }
  if (stream.left() == 0) {
    stream.pending.clear();
    stream.written = 0;
  }
  return done > 0;
}

bool OutputRelay::all_read() const {
  return std::none_of(streams_.begin(), streams_.end(), [](const Stream& s) { return s.from.valid(); });
}

bool OutputRelay::all_written() const {
  return std::all_of(streams_.begin(), streams_.end(), [](const Stream& s) { return s.left() == 0; });
}

}  // namespace gpupool::launcher
