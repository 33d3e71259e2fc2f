// SPDX-License-Identifier: Apache-2.0
#include "launcher/tail_buffer.h"

namespace gpupool::launcher {

void TailBuffer::append(std::size_t stream, std::string_view bytes) {
  Line& line = open_.at(stream);
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    add_to_line(line, bytes.substr(0, newline));
    if (newline == std::string_view::npos) return;
    finish_line(line);
    bytes.remove_prefix(newline + 1);
  }
}

void TailBuffer::add_to_line(Line& line, std::string_view bytes) const {
  // A return at the very end may be half of "\r\n", so it takes effect with the next byte only.
  bool ends_in_return = false;
  while (!bytes.empty() && bytes.back() == '\r') {
    bytes.remove_suffix(1);
    ends_in_return = true;
  }
  if (!bytes.empty()) {
    const std::size_t last_return = bytes.rfind('\r');
    if (last_return != std::string_view::npos) bytes.remove_prefix(last_return + 1);
    if (line.after_return || last_return != std::string_view::npos) line.bytes.clear();
    line.after_return = false;
    if (bytes.size() > capacity_) bytes.remove_prefix(bytes.size() - capacity_);
    line.bytes += bytes;
    if (line.bytes.size() > 2 * capacity_) line.bytes.erase(0, line.bytes.size() - capacity_);
  }
  line.after_return = line.after_return || ends_in_return;
}

void TailBuffer::finish_line(Line& line) {
  lines_ += line.bytes;
  lines_ += '\n';
  line.bytes.clear();
  line.after_return = false;
  if (lines_.size() <= 2 * capacity_) return;
  // Cut at the first line start that leaves at most `capacity_`; one line longer than that is cut inside.
  const std::size_t from = lines_.size() - capacity_;
  const std::size_t newline = lines_.find('\n', from - 1);
  lines_.erase(0, newline + 1 < lines_.size() ? newline + 1 : from);
}

std::string TailBuffer::text() const {
  std::string all = lines_;
  for (const Line& line : open_) {
    if (line.bytes.empty()) continue;
    all += line.bytes;
    all += '\n';
  }
  return all;
}

}  // namespace gpupool::launcher
