// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launcher/deadline.h"
#include "launcher/signal_inbox.h"

namespace gpupool::launcher {

// Listens on rank 0's port after its success, until a stop signal comes or until `deadline`: accepts and
// closes connections. Other ranks may start later than rank 0 ended, and would otherwise wait for a port on
// which nobody listens any more. Returns the same way, without listening, if the port is taken.
void stand_in_for_master(SignalInbox& inbox, int port, Clock::time_point deadline);

}  // namespace gpupool::launcher
