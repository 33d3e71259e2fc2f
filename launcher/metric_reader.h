// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "launcher/metrics.h"

namespace gpupool::launcher {

// Splits what a command prints on its two streams into lines and reads their numbers. A carriage return ends
// a line too (progress bars). Of a line, the first 16 KiB are read. Not thread-safe. `metrics` outlives it.
class MetricReader {
 public:
  static constexpr std::size_t kMaxLine = std::size_t{16} << 10U;
  static constexpr std::size_t kStreams = 2;

  explicit MetricReader(Metrics& metrics) : metrics_(metrics) {}

  void append(std::size_t stream, std::string_view bytes);
  // Reads lines that have no end yet, because nothing follows.
  void finish();

 private:
  Metrics& metrics_;
  std::array<std::string, kStreams> open_;  // lines without an end yet
};

}  // namespace gpupool::launcher
