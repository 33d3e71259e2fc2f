// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace gpupool::logs {

// One line of a worker, as its container printed it.
struct LogLine {
  base::WallTime time;   // when the container runtime received it
  std::string stamp;     // the same as the kubelet wrote it, with nanoseconds
  std::string text;      // any bytes except '\n'; at most LineAssembler::kMaxBytes
  std::size_t cut = 0;   // bytes that are missing at the end of `text`
  std::uint64_t id = 0;  // hash of all bytes of the line, also of the missing ones
};

// True for what the launcher prints when its container was started again: from here on, the log is not that
// of the command (api/worker_result_format.h).
bool is_repeated_result(std::string_view text);

}  // namespace gpupool::logs
