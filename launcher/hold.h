#pragma once

#include "launcher/signal_inbox.h"

namespace gpupool::launcher {

// Waits for a stop signal, which takes effect at once, and leaves no zombie meanwhile.
void hold_until_stopped(SignalInbox& inbox);

}  // namespace gpupool::launcher
