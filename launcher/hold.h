#pragma once

#include <optional>

#include "launcher/signal_inbox.h"

namespace gpupool::launcher {

// Waits for a stop signal, which takes effect at once, and leaves no zombie meanwhile. port: to stand in for
// rank 0 on (stand_in.h).
void hold_until_stopped(SignalInbox& inbox, std::optional<int> port = std::nullopt);

}  // namespace gpupool::launcher
