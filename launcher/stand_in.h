#pragma once

#include "launcher/deadline.h"
#include "launcher/signal_inbox.h"

namespace gpupool::launcher {

// Takes rank 0's place at its port until a stop signal comes, or until `deadline`: connections are accepted
// and closed. Ranks of a program without a rendezvous wait for a port on which nobody ever listened, and
// after the success of rank 0 nobody will. Does without if the port is taken.
void stand_in_for_master(SignalInbox& inbox, int port, Clock::time_point deadline);

}  // namespace gpupool::launcher
