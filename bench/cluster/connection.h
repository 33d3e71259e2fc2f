// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "kube/client.h"
#include "kube/config/rest_config.h"
#include "net/curl_transport.h"
#include "runtime/watch/reflector.h"

namespace gpupool::bench {

// A connection to the API server like the operator's: same transport, same client, no rate limit.
class Connection {
 public:
  // Ends the program (1) if the kubeconfig cannot be read. user_agent identifies its requests in an audit
  // log.
  Connection(const std::string& kubeconfig, const std::string& user_agent);

  kube::Client& client() { return client_; }
  base::Clock& clock() { return clock_; }
  base::Metrics& metrics() { return metrics_; }
  const base::Log& log() const { return log_; }

  // Runs caches, each on its own thread, and waits for their first lists. Ends the program (1) if that takes
  // over a minute.
  std::vector<std::jthread> fill(const std::vector<runtime::Reflector*>& caches);

 private:
  net::CurlGlobal curl_;
  base::SystemClock clock_;
  base::Metrics metrics_;
  base::Log log_{base::LogLevel::kWarning};
  kube::RestConfig config_;
  net::CurlTransport transport_;
  kube::Client client_;
};

// SIGTERM and SIGINT end these programs. REQUIRES: block_signals is called before any thread starts.
// wait_for_signal returns when a signal has arrived.
void block_signals();
void wait_for_signal();

}  // namespace gpupool::bench
