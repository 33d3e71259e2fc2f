// SPDX-License-Identifier: Apache-2.0
#include "base/stop_signals.h"

#include <unistd.h>

#include <csignal>

namespace gpupool::base {

StopSignals::StopSignals(std::stop_source& stop)
    : thread_({SIGTERM, SIGINT}, [this, &stop](int) {
        if (++seen_ > 1) _exit(1);
        stop.request_stop();
      }) {
  (void)std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace gpupool::base
