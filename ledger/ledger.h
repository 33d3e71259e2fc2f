// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "options.h"

namespace gpupool {

// gpupool-ledger serve: enters what GpuJobs have held until stop is requested.
base::Result<void> serve_ledger(const Options& options, base::Clock& clock, const base::Log& log,
                                const std::stop_token& stop);

// gpupool-ledger adopt: publishes the head of these books, so that serve goes on with them. Returns it.
base::Result<ledger::Head> adopt_books(const Options& options, base::Clock& clock, const base::Log& log);

}  // namespace gpupool
