// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "base/signal_thread.h"

namespace gpupool::base {

// Turns SIGTERM and SIGINT into a stop request; the second one ends the program at once with status 1.
// Ignores SIGPIPE.
//
// REQUIRES: constructed before any other thread is started, but for a SignalThread; `stop` outlives it.
class StopSignals {
 public:
  explicit StopSignals(std::stop_source& stop);

 private:
  int seen_ = 0;  // of thread_ alone
  SignalThread thread_;
};

}  // namespace gpupool::base
