// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "controllers/sweep/ask_workers.h"

namespace gpupool {

// Returns the way to launchers: TCP to the addresses of their pods.
controllers::AskWorkers ask_over_tcp();

}  // namespace gpupool
