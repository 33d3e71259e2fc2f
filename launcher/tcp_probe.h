// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launcher/expected.h"
#include "launcher/resolve.h"

namespace gpupool::launcher {

// Opens one TCP connection and closes it again, sending nothing: the listener sees an orderly end (FIN).
// Blocks for at most `timeout_ms`. Thread safe.
Expected<void> probe_tcp(const Address& address, int timeout_ms);

}  // namespace gpupool::launcher
