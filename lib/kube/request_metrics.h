// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"

namespace gpupool::kube {

// The rest_client_* metrics, with client-go's names. Thread-safe.
class RequestMetrics {
 public:
  explicit RequestMetrics(base::Metrics& metrics) : metrics_(metrics) {}

  // Counts one request that was sent. http_status 0: there was no answer.
  void sent(const std::string& method, int http_status);
  // The duration of one request, without the waits between tries. Not for watches.
  void took(std::string_view verb, base::Duration how_long);
  void retried(const std::string& method);

 private:
  base::Metrics& metrics_;
};

}  // namespace gpupool::kube
