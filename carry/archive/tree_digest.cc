// SPDX-License-Identifier: Apache-2.0
#include "archive/tree_digest.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <queue>

#include "digest/sha256.h"
#include "files/file_error.h"
#include "files/relative_path.h"

namespace gpupool::carry {
namespace {

constexpr std::int64_t kMostDigestedBytes = std::int64_t{256} << 20U;
constexpr std::size_t kPiece = std::size_t{16} << 10U;  // more than a line has
constexpr char kDirectoryMark = 'd';

std::string_view path_of(std::string_view line) { return line.substr(0, line.find('\0')); }

// Hashes lines that come sorted, and of equal paths only the last.
class SortedLines {
 public:
  void add(std::string_view line) {
    if (path_of(line) != path_of(last_)) flush();
    last_ = line;
  }
  TreeSummary finish() {
    flush();
    return {files_, "sha256:" + hash_.hex()};
  }

 private:
  void flush() {
    const auto mode = last_.find('\0') + 1;
    if (!last_.empty() && last_[mode] != kDirectoryMark) {
      hash_.add(last_);
      ++files_;
    }
    last_.clear();
  }

  std::string last_;
  std::int64_t files_ = 0;
  digest::Sha256 hash_;
};

// The lines of one sorted part of a file.
class Run {
 public:
  Run(int file, std::int64_t begin, std::int64_t end) : file_(file), at_(begin), end_(end) {}

  // Returns false at the end.
  Outcome<bool> next() {
    begin_ += line_;
    auto newline = buffer_.find('\n', begin_);
    if (newline == std::string::npos) {
      if (auto filled = fill(); !filled) return tl::unexpected(filled.error());
      newline = buffer_.find('\n');
      if (newline == std::string::npos) return false;
    }
    line_ = newline + 1 - begin_;
    return true;
  }
  std::string_view line() const { return std::string_view(buffer_).substr(begin_, line_); }

 private:
  Outcome<void> fill() {
    buffer_.erase(0, begin_);
    begin_ = line_ = 0;
    while (buffer_.size() < kPiece && at_ < end_) {
      const auto old = buffer_.size();
      buffer_.resize(old + std::min(kPiece, static_cast<std::size_t>(end_ - at_)));
      const auto got = ::pread(file_, buffer_.data() + old, buffer_.size() - old, at_);
      buffer_.resize(old + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return file_failure("cannot read the list of files", got < 0 ? errno : EIO);
      at_ += got;
    }
    return {};
  }

  int file_;
  std::int64_t at_;
  std::int64_t end_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t line_ = 0;
};

Outcome<TreeSummary> merge(std::vector<Run>& runs) {
  // Of equal paths the one of the last run comes last.
  const auto later = [&](std::size_t a, std::size_t b) {
    const auto order = path_of(runs[a].line()).compare(path_of(runs[b].line()));
    return order != 0 ? order > 0 : a > b;
  };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> first(later);
  const auto advance = [&](std::size_t run) -> Outcome<void> {
    auto more = runs[run].next();
    if (!more) return tl::unexpected(more.error());
    if (*more) first.push(run);
    return {};
  };
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (auto advanced = advance(run); !advanced) return tl::unexpected(advanced.error());
  }
  SortedLines lines;
  while (!first.empty()) {
    const auto run = first.top();
    first.pop();
    lines.add(runs[run].line());
    if (auto advanced = advance(run); !advanced) return tl::unexpected(advanced.error());
  }
  return lines.finish();
}

}  // namespace

Outcome<void> TreeDigest::add(std::string_view path, bool program, std::string_view content) {
  return put(path, program ? 'x' : '-', content);
}

Outcome<void> TreeDigest::add_directory(std::string_view path) { return put(path, kDirectoryMark, {}); }

Outcome<void> TreeDigest::put(std::string_view path, char mode, std::string_view content) {
  const auto size = path.size() + content.size() + 4;
  if (text_.size() + size > memory_ && !begins_.empty()) {
    if (auto spilled = spill(); !spilled) return spilled;
  }
  total_ += static_cast<std::int64_t>(size);
  if (total_ > kMostDigestedBytes)
    return failed(FailureKind::kTooLarge, "the paths of all files together are longer than 256 MiB");
  begins_.push_back(static_cast<std::uint32_t>(text_.size()));
  text_.append(path).append(1, '\0').append(1, mode).append(1, '\0').append(content).append(1, '\n');
  return {};
}

std::vector<std::string_view> TreeDigest::sorted() const {
  std::vector<std::string_view> lines;
  lines.reserve(begins_.size());
  for (std::size_t i = 0; i < begins_.size(); ++i) {
    const std::size_t end = i + 1 < begins_.size() ? begins_[i + 1] : text_.size();
    lines.push_back(std::string_view(text_).substr(begins_[i], end - begins_[i]));
  }
  std::stable_sort(lines.begin(), lines.end(), [](auto a, auto b) { return path_of(a) < path_of(b); });
  return lines;
}

Outcome<void> TreeDigest::spill() {
  if (!file_.valid()) {
    static std::atomic<unsigned> number = 0;  // archives may be unpacked at the same time
    const std::string name = ".list-" + std::to_string(number++) + std::string(kPartSuffix);
    ::unlinkat(directory_, name.c_str(), 0);  // of a process that was killed
    file_.reset(::openat(directory_, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file_.valid() || ::unlinkat(directory_, name.c_str(), 0) != 0)
      return file_failure("cannot create a list of files", errno);
  }
  std::string piece;
  const auto write_piece = [&]() -> Outcome<void> {
    for (std::string_view rest = piece; !rest.empty();) {
      const auto wrote = ::write(file_.get(), rest.data(), rest.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) return file_failure("cannot write the list of files", errno);
      rest.remove_prefix(static_cast<std::size_t>(wrote));
    }
    piece.clear();
    return {};
  };
  for (const auto line : sorted()) {
    piece += line;
    if (piece.size() < kPiece) continue;
    if (auto written = write_piece(); !written) return written;
  }
  if (auto written = write_piece(); !written) return written;
  runs_.push_back((runs_.empty() ? 0 : runs_.back()) + static_cast<std::int64_t>(text_.size()));
  text_.clear();
  begins_.clear();
  return {};
}

Outcome<TreeSummary> TreeDigest::finish() {
  if (runs_.empty()) {
    SortedLines lines;
    for (const auto line : sorted()) lines.add(line);
    return lines.finish();
  }
  if (auto spilled = spill(); !spilled) return tl::unexpected(spilled.error());
  std::vector<Run> runs;
  runs.reserve(runs_.size());
  std::int64_t begin = 0;
  for (const auto end : runs_) {
    runs.emplace_back(file_.get(), begin, end);
    begin = end;
  }
  return merge(runs);
}

}  // namespace gpupool::carry
