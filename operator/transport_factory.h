// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/log.h"
#include "base/metrics.h"
#include "net/endpoint.h"
#include "net/transport.h"

namespace gpupool {

// Creates the transport to the API server. gpupool-operator-faults, a program for tests, is linked with
// another definition of this function and is otherwise the same as gpupool-operator. REQUIRES: metrics
// outlives the transport.
std::unique_ptr<net::Transport> make_transport(const net::Endpoint& endpoint, const std::string& user_agent,
                                               base::Metrics& metrics, const base::Log& log);

}  // namespace gpupool
