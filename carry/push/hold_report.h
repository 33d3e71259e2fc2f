// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>

#include "base/clock.h"
#include "failure/failure.h"

namespace gpupool::carry {

// Keeps the report of this pod's results in `directory` for later starts of the container.
Outcome<void> store_report(const std::string& directory, const std::string& text);
// Writes the stored report as the termination message. False if there is none.
bool repeat_report(const std::string& directory, const std::string& termination_log);
// Waits before the container ends again: as long as has passed since the report, at least 10 s and at most a
// day, or until a stop. A kubelet forgets containers that ended long ago, and with them the report.
void hold_report(const std::string& directory, base::Clock& clock, std::stop_token stop);

}  // namespace gpupool::carry
