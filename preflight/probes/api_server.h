// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "api/v1alpha1/gpu_pool.h"
#include "base/clock.h"
#include "checks/api_server.h"

namespace gpupool::probes {

struct ApiQuestion {
  std::string kubeconfig;  // empty: the usual places
  std::string server;      // a URL to be asked without credentials instead
  std::string pool;        // to be read; empty: none
  std::string user_agent;
};

struct ApiAnswer {
  checks::ApiServerFacts facts;
  std::optional<std::chrono::milliseconds> clock_ahead;  // of the API server's
  std::optional<api::GpuPool> pool;
  std::string pool_error;  // why the pool that was asked for is not here
};

// Blocks for a minute at most.
//
// REQUIRES: a net::CurlGlobal exists.
ApiAnswer ask_api_server(const ApiQuestion& question, base::Clock& clock);

}  // namespace gpupool::probes
