// SPDX-License-Identifier: Apache-2.0
#include "launcher/metric_reader.h"

#include <algorithm>

#include "launcher/metric_scan.h"

namespace gpupool::launcher {

void MetricReader::append(std::size_t stream, std::string_view bytes) {
  if (metrics_.empty()) return;
  std::string& open = open_[stream];
  const auto keep = [&open](std::string_view part) {
    open += part.substr(0, kMaxLine - std::min(kMaxLine, open.size()));
  };
  std::size_t begin = 0;
  std::size_t newline = bytes.find('\n');
  std::size_t carriage_return = bytes.find('\r');
  for (;;) {
    const std::size_t end = std::min(newline, carriage_return);
    if (end == std::string_view::npos) return keep(bytes.substr(begin));
    (end == newline ? newline : carriage_return) = bytes.find(bytes[end], end + 1);
    const std::string_view line = bytes.substr(begin, end - begin);
    begin = end + 1;
    if (open.empty()) {
      scan_line(line.substr(0, kMaxLine), metrics_);
      continue;
    }
    keep(line);
    scan_line(open, metrics_);
    open.clear();
  }
}

void MetricReader::finish() {
  for (std::string& open : open_) {
    if (!open.empty()) scan_line(open, metrics_);
    open.clear();
  }
}

}  // namespace gpupool::launcher
