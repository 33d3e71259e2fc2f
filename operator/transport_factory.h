#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "base/metrics.h"
#include "net/endpoint.h"
#include "net/transport.h"

namespace gpupool {

// The way to the API server. The program for tests, gpupool-operator-faults, is linked with another
// definition of this: everything else in it is what users run. metrics outlives the transport.
std::unique_ptr<net::Transport> make_transport(const net::Endpoint& endpoint, const std::string& user_agent,
                                               base::Metrics& metrics, const base::Log& log);

}  // namespace gpupool
