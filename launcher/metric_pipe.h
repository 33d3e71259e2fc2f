// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "launcher/expected.h"
#include "launcher/metrics.h"

namespace gpupool::launcher {

// A named pipe into which a command writes lines of JSON, each an object with numbers
// ({"step":10,"loss":0.3}). Called from the Supervisor's poll() loop; not thread-safe. `metrics` outlives it.
class MetricPipe {
 public:
  explicit MetricPipe(Metrics& metrics) : metrics_(metrics) {}

  // Makes the pipe at this path, in place of what is there. It stays open until the end, so that writers may
  // come and go.
  Expected<void> open(const std::string& path);

  void add_to(std::vector<pollfd>& events) const;
  // Reads what is there now.
  void pump();

 private:
  void read_lines();

  Metrics& metrics_;
  base::UniqueFd pipe_;
  std::string open_;       // a line without an end yet
  bool too_long_ = false;  // the present line is skipped
};

}  // namespace gpupool::launcher
