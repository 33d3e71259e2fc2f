// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launcher/options.h"
#include "launcher/signal_inbox.h"

namespace gpupool::launcher {

enum class MasterState { kReady, kTimedOut, kStopped };

struct MasterWait {
  MasterState state = MasterState::kReady;
  int signal = 0;             // the stop signal, with kStopped
  bool from_outside = false;  // whether somebody outside the pod sent it
  std::string problem;        // what the last try met, with kTimedOut
};

// Waits until rank 0's port accepts a connection, the timeout passes, or a stop signal comes; the last two
// take effect at once, whatever a name server or a connection does. Every failure to resolve or connect is
// tried again, after 20 ms at first and 500 ms at last.
MasterWait wait_for_master(const Options& options, SignalInbox& inbox);

}  // namespace gpupool::launcher
