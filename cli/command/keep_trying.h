// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <ostream>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"

namespace gpupool::command {

// Called once whenever the server goes away, and with an empty text when it is back.
using OnAway = std::function<void(const std::string& why)>;

// One read or watch. True: the end was reached; false: the server has ended the watch. It calls `answered`
// when the server has answered.
using Once = std::function<base::Result<bool>(const std::function<void()>& answered)>;

// Calls `once` until it returns true (success) or an error that does not pass by itself, or stop is requested
// (kCancelled). After an error of a server that may be back soon it waits for 1 s, later for up to 10 s.
base::Result<void> keep_trying(base::Clock& clock, const Once& once, const OnAway& on_away,
                               const std::stop_token& stop);

// Tells it to a person. REQUIRES: err outlives the function.
OnAway tell_away(std::ostream& err);

}  // namespace gpupool::command
