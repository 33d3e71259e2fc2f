// SPDX-License-Identifier: Apache-2.0
#include "net/line_splitter.h"

namespace gpupool::net {

LineSplitter::LineSplitter(std::size_t max_line_bytes) : max_(max_line_bytes) {}

base::Result<bool> LineSplitter::feed(std::string_view piece,
                                      const std::function<bool(std::string_view)>& on_line) {
  const auto too_long = [&] {
    buffer_.clear();
    return base::fail(base::ErrorCode::kParse, "a line is longer than " + std::to_string(max_) + " bytes");
  };
  while (true) {
    const std::size_t end = piece.find('\n');
    const std::string_view part = piece.substr(0, end);
    if (part.size() > max_ - buffer_.size()) return too_long();
    if (end == std::string_view::npos) {
      buffer_ += part;
      return true;
    }
    piece.remove_prefix(end + 1);
    // Only a line that arrives in several pieces is copied.
    bool more = true;
    if (!buffer_.empty()) {
      buffer_ += part;
      more = on_line(buffer_);
      buffer_.clear();
    } else if (!part.empty()) {
      more = on_line(part);
    }
    if (!more) return false;
  }
}

}  // namespace gpupool::net
