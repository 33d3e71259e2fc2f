// SPDX-License-Identifier: Apache-2.0
#include "git/pkt_line.h"

#include <algorithm>
#include <charconv>

namespace gpupool::carry {
namespace {

constexpr std::size_t kHeader = 4;
constexpr std::size_t kMost = 65520;

tl::unexpected<Failure> not_packets() {
  return failed(FailureKind::kInvalid, "the answer is not in git's format");
}

// The four digits at the beginning. REQUIRES: there are as many.
Outcome<std::size_t> length_of(std::string_view bytes) {
  const auto header = bytes.substr(0, kHeader);
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), length, 16);
  if (error != std::errc() || end != header.data() + header.size()) return not_packets();
  if (length == 3 || length > kMost) return not_packets();
  return length;
}

PktLine marker(std::size_t length) {
  using Kind = PktLine::Kind;
  return {length == 0 ? Kind::kFlush : length == 1 ? Kind::kDelimiter : Kind::kEnd, {}};
}

}  // namespace

std::string pkt_line(std::string_view data) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto length = data.size() + kHeader;
  std::string line;
  line.reserve(length);
  for (const unsigned shift : {12U, 8U, 4U, 0U}) line += kDigits[length >> shift & 15U];
  return line.append(data);
}

Outcome<bool> PktLines::take(std::string_view& bytes, PktLine& packet) {
  if (held_ == 0 && bytes.size() >= kHeader) {  // most packets are whole: no copy
    auto length = length_of(bytes);
    if (!length) return tl::unexpected(length.error());
    const auto size = std::max(*length, kHeader);
    if (size <= bytes.size()) {
      packet = *length < kHeader ? marker(*length)
                                 : PktLine{PktLine::Kind::kData, bytes.substr(kHeader, size - kHeader)};
      bytes.remove_prefix(size);
      return true;
    }
  }
  hold(bytes, kHeader);
  if (held_ < kHeader) return false;
  auto length = length_of(buffer_);
  if (!length) return tl::unexpected(length.error());
  const auto size = std::max(*length, kHeader);
  hold(bytes, size);
  if (held_ < size) return false;
  packet = *length < kHeader
               ? marker(*length)
               : PktLine{PktLine::Kind::kData, std::string_view(buffer_).substr(kHeader, size - kHeader)};
  held_ = 0;
  return true;
}

void PktLines::hold(std::string_view& bytes, std::size_t up_to) {
  if (up_to <= held_) return;
  const auto count = std::min(up_to - held_, bytes.size());
  if (buffer_.size() < up_to) buffer_.resize(up_to);
  bytes.copy(buffer_.data() + held_, count);
  held_ += count;
  bytes.remove_prefix(count);
}

}  // namespace gpupool::carry
