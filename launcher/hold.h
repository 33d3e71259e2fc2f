#pragma once

#include <chrono>
#include <optional>

#include "launcher/signal_inbox.h"

namespace gpupool::launcher {

using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;

// How long to hold a result that was stored at `stored`: as long as has passed since then, so that pauses
// double and a result is repeated few times however long it stands; at least `least`, at most a day, whatever
// the clock does.
std::chrono::milliseconds hold_pause(WallTime stored, WallTime now, std::chrono::seconds least);

// Waits for `pause`, or until a stop signal comes; leaves no zombie meanwhile. port: to stand in for rank 0
// on (stand_in.h).
void hold(SignalInbox& inbox, std::chrono::milliseconds pause, std::optional<int> port = std::nullopt);

}  // namespace gpupool::launcher
