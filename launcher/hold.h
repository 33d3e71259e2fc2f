// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>

#include "launcher/signal_inbox.h"

namespace gpupool::launcher {

using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;

// How long to hold a result that was stored at `stored` before the container ends again: as long as has
// passed since then, at least `least` and at most a day. So pauses double, and even an old result is repeated
// only a few times. Pure.
std::chrono::milliseconds hold_pause(WallTime stored, WallTime now, std::chrono::seconds least);

// Waits for `pause` or until a stop signal comes, and reaps children meanwhile. port: stand in for rank 0 on
// it (stand_in.h).
void hold(SignalInbox& inbox, std::chrono::milliseconds pause, std::optional<int> port = std::nullopt);

}  // namespace gpupool::launcher
