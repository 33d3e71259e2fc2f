// SPDX-License-Identifier: Apache-2.0
#include "kube/request_metrics.h"

#include <chrono>
#include <vector>

namespace gpupool::kube {

void RequestMetrics::sent(const std::string& method, int http_status) {
  metrics_
      .counter("rest_client_requests_total", "Requests to the API server, by HTTP code and method",
               {{"code", http_status == 0 ? "<error>" : std::to_string(http_status)}, {"method", method}})
      .increment();
}

void RequestMetrics::took(std::string_view verb, base::Duration how_long) {
  static const std::vector<double> kBounds{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60};
  metrics_
      .histogram("rest_client_request_duration_seconds", "Duration of requests to the API server, by verb",
                 kBounds, {{"verb", std::string(verb)}})
      .observe(std::chrono::duration<double>(how_long).count());
}

void RequestMetrics::retried(const std::string& method) {
  metrics_
      .counter("rest_client_request_retries_total", "Requests that were sent again, by method",
               {{"method", method}})
      .increment();
}

}  // namespace gpupool::kube
