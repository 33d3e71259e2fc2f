// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probes/listeners.h"

namespace gpupool::probes {

// The status of GET /healthz in plain HTTP; 0: no HTTP answer within two seconds. Does not use libcurl, which
// would obey proxy settings even for this machine.
int probe_http(const Listener& listener);

}  // namespace gpupool::probes
