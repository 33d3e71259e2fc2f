// SPDX-License-Identifier: Apache-2.0
#include "csv/byte_window.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "csv/text_check.h"
#include "files/file_error.h"

namespace gpupool::carry::csv {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Returns how much was read; less than `size` at the end of the file alone.
Outcome<std::size_t> read_at(const SourceFile& source, std::int64_t offset, char* into, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const auto got = ::pread(source.fd(), into + done, size - done, offset + static_cast<std::int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_failure("cannot read " + source.name(), errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

// The line of the byte at `offset`, counted from 1. An unreadable file has no such line.
Outcome<std::int64_t> line_at(const SourceFile& source, std::int64_t offset) {
  std::array<char, 65536> bytes{};
  std::int64_t line = 1;
  bool after_return = false;
  for (std::int64_t at = 0; at < offset;) {
    const auto want = std::min<std::int64_t>(offset - at, bytes.size());
    const auto got = read_at(source, at, bytes.data(), static_cast<std::size_t>(want));
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) break;
    for (const char c : std::string_view(bytes.data(), *got)) {
      line += c == '\r' || (c == '\n' && !after_return);
      after_return = c == '\r';
    }
    at += static_cast<std::int64_t>(*got);
  }
  return line;
}

}  // namespace

ByteWindow::ByteWindow(const SourceFile& source, bool check_text, std::stop_token stop)
    : source_(&source), check_text_(check_text), stop_(std::move(stop)), bytes_(2 * kBlock + kPadding) {}

Outcome<void> ByteWindow::more(const char* keep) {
  if (stop_.stop_requested())
    return failed(FailureKind::kStopped, "stopped while reading " + source_->name());
  const auto kept_from = static_cast<std::size_t>(keep - bytes_.data());
  const std::size_t kept = end_ - kept_from;
  std::memmove(bytes_.data(), keep, kept);
  checked_ -= std::min(checked_, kept_from);
  begin_ = 0;
  end_ = kept;
  if (bytes_.size() - kPadding - kept < kBlock)
    bytes_.resize(std::min(2 * bytes_.size(), kMaxKept + kBlock + kPadding));
  const auto got = read_at(*source_, offset_, bytes_.data() + end_, kBlock);
  if (!got) return tl::unexpected(got.error());
  const bool first = offset_ == 0;
  offset_ += static_cast<std::int64_t>(*got);
  end_ += *got;
  at_end_ = *got < kBlock;
  std::memset(bytes_.data() + end_, 0, kPadding);
  if (first && std::string_view(begin(), end_).starts_with(kByteOrderMark)) begin_ = kByteOrderMark.size();
  return check_text_ ? check_text() : Outcome<void>();
}

Outcome<void> ByteWindow::check_text() {
  const std::string_view bytes(bytes_.data() + checked_, end_ - checked_);
  const auto good = good_text(bytes);
  checked_ += good;
  const auto rest = bytes.substr(good);
  if (rest.empty() || (!at_end_ && is_cut_off(rest))) return {};
  const std::int64_t offset = offset_ - static_cast<std::int64_t>(rest.size());
  const auto line = line_at(*source_, offset);
  if (!line) return tl::unexpected(line.error());
  return failed(FailureKind::kInvalid,
                source_->name() + ": line " + std::to_string(*line) + ", byte " + std::to_string(offset) +
                    " of the file: " + (rest.front() == '\0' ? "a NUL byte" : "not UTF-8"));
}

}  // namespace gpupool::carry::csv
