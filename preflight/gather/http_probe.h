#pragma once

#include "gather/listeners.h"

namespace gpupool::gather {

// The status of GET /healthz in plain HTTP; 0: no HTTP answer within two seconds. Not by libcurl, which would
// take a proxy to the machine itself.
int probe_http(const Listener& listener);

}  // namespace gpupool::gather
