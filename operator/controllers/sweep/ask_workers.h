// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace gpupool::controllers {

struct WorkerQuestion {
  std::string address;  // of the worker's pod
  std::string text;     // what to send
};

// Asks launchers for the numbers of running programs (lib/api/live_metrics_format.h), all at once, and
// returns what they answer, in the same order. Blocks for at most `timeout`. Given by main, so that
// controllers use no network of their own.
using AskWorkers = std::function<std::vector<base::Result<std::string>>(
    const std::vector<WorkerQuestion>& questions, base::Duration timeout, const std::stop_token& stop)>;

}  // namespace gpupool::controllers
